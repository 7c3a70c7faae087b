"""Trains what is shipped, and what measures it: `python -m beats.pipeline FOLDER`. Each step resumes where it stopped.

For the causal and the whole-file variant: networks without one fold of the pieces, and without that fold and one soundfont; their
scores; a network on all excerpts; its weights file, test vectors, and a model card with the scores. With --ablations, shorter
trainings of variants, compared on the real validation material (FOLDER/real).
"""
import argparse
import subprocess
import sys
from pathlib import Path

from . import export, model

VARIANTS = {"causal": [], "whole-file": ["--whole-file"]}
# Changes of the training, one at a time, and the option that makes them.
ABLATIONS = {
    "base": [],
    "base-seed2": ["--seed", "2"],
    "onset-input-only": ["--onset-share", "0"],
    "no-onset": ["--onset-share", "0", "--no-onset-input"],
    "share-only": ["--no-onset-input"],
    "no-augmentation": ["--no-augmentation"],
    "no-delay": ["--no-delay"],
    "wide": ["--width", "32"],
    "harmonic-input": ["--harmonic-input"],
    "tempo-head": ["--tempo-head"],
}
LEFT_OUT_FONT = "gmbank"


def run(module, *arguments):
    subprocess.run([sys.executable, "-m", f"beats.{module}", *map(str, arguments)], check=True)


def scores(options, excerpts, *arguments):
    """The score table of the evaluation, also printed."""
    command = [sys.executable, "-m", "beats.evaluate", str(excerpts), *map(str, arguments), "--limit", str(options.limit), *options.pause]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(text, flush=True)
    return text


def train(options, name, steps, *arguments):
    checkpoint = options.runs / f"{name}.pt"
    print(f"== {name}", flush=True)
    run("train", options.folder, checkpoint, "--steps", steps, "--threads", options.threads, *options.pause, *arguments)
    return checkpoint


def ablations(options):
    text = []
    for variant, extra in VARIANTS.items():
        checkpoints = [train(options, f"ablation-{variant}-{name}", options.ablation_steps, "--fold", options.fold, *extra, *changes)
                       for name, changes in ABLATIONS.items()]
        text += [f"\n## Ablations, {variant}, real validation material\n", scores(options, options.folder / "real", *checkpoints)]
        (options.output / f"ablations-{variant}.md").write_text("\n".join(text))
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the rendered excerpts")
    parser.add_argument("--output", type=Path, help="folder of the results (default: FOLDER/model)")
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--ablation-steps", type=int, default=2000)
    parser.add_argument("--ablations", action="store_true")
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--limit", type=int, default=200, help="number of excerpts to score (default 200)")
    parser.add_argument("--bits", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pause-file")
    options = parser.parse_args()
    options.output = options.output or options.folder / "model"
    options.runs = options.folder / "runs"
    options.pause = ["--pause-file", options.pause_file] if options.pause_file else []
    for folder in (options.output, options.runs):
        folder.mkdir(parents=True, exist_ok=True)

    text, weights, kept = [], [], {}
    items, real = options.folder / "items", options.folder / "real"
    fold, font = ["--fold", options.fold], ["--left-out-font", LEFT_OUT_FONT]
    for variant, extra in VARIANTS.items():
        kept[variant] = train(options, f"fold{options.fold}-{variant}", options.steps, *fold, *extra)
        text += [f"\n### {variant}: pieces of the fold left out\n", scores(options, items, kept[variant], *fold)]
        if real.is_dir():
            text += [f"\n### {variant}: real recordings\n", scores(options, real, kept[variant])]
    if options.ablations:
        text += ablations(options)
    for variant, extra in VARIANTS.items():
        final = train(options, f"final-{variant}", options.steps, *extra)
        weights.append(options.output / f"beats-{variant}.bin")
        weights[-1].write_bytes(export.to_file(model.load(final), options.bits))
    for variant, extra in VARIANTS.items():
        without = train(options, f"fold{options.fold}-{LEFT_OUT_FONT}-{variant}", options.steps, *fold, *font, *extra)
        text += [f"\n### {variant}: the soundfont {LEFT_OUT_FONT} left out too, against the network that was trained with it\n",
                 scores(options, items, kept[variant], without, *fold, *font)]
    excerpt = sorted(items.glob("*.npz"))[0]
    run("export", "vectors", excerpt, options.output / "vectors.bin", *weights)
    card = (Path(__file__).parent.parent / "MODEL-CARD.md").read_text()
    marker = "<!-- scores -->"
    (options.output / "MODEL-CARD.md").write_text(card.replace(marker, "\n".join(text)))
    for path in sorted(options.output.iterdir()):
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
