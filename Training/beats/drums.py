"""Scores a network of drums on rendered excerpts whose drums are known.

    python -m beats.drums FOLDER NETWORK --fold 0       checkpoint (.pt) or weights file (.bin); F of kick, snare and hi-hat by threshold
"""
import argparse
from pathlib import Path

import numpy as np
import torch

from . import dataset, export, metrics, model
from .arrange import VOICE_NAMES
from .features import FRAME_SECONDS, from_bytes, network_input

# A stroke is the first frame above the threshold that is the maximum of this number of frames, itself included, as in DrumDetector.swift.
DISTANCE = 4
WINDOW = 0.05
THRESHOLDS = np.arange(0.1, 0.65, 0.05)
END = 0.1


def pick(activation, threshold):
    """The times of the strokes, without look-ahead."""
    found, last = [], -DISTANCE
    for frame in np.flatnonzero(activation >= threshold):
        if frame - last >= DISTANCE and activation[frame] >= activation[max(0, frame - DISTANCE + 1):frame + 1].max():
            found.append(frame * FRAME_SECONDS)
            last = frame
    return np.array(found)


def counts(excerpt, activation, voice, threshold):
    """(hits, estimates, strokes) of one voice; soft strokes count as neither."""
    rows = excerpt.drums[excerpt.drums[:, 1] == voice]
    times, is_loud = rows[:, 0] + dataset.DRUM_DELAY * FRAME_SECONDS, rows[:, 2] >= dataset.LEAST_VELOCITY
    strokes = np.unique(np.round(times[is_loud & (times < len(activation) * FRAME_SECONDS - END)], 3))
    found = pick(activation, threshold)
    if len(found) and (~is_loud).any():
        def near(others):
            return (abs(found[:, None] - others).min(axis=1) < WINDOW) if len(others) else np.zeros(len(found), bool)
        found = found[near(strokes) | ~near(times[~is_loud])]
    if not len(found) or not len(strokes):
        return 0.0, len(found), len(strokes)
    return metrics.f_measure(strokes, found, WINDOW, 0) * (len(found) + len(strokes)) / 2, len(found), len(strokes)


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("network")
    parser.add_argument("--fold", type=int)
    parser.add_argument("--left-out-font")
    parser.add_argument("--limit", type=int, default=150, help="number of excerpts, chosen at random (default 150)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    source = Path(options.network)
    network = export.from_file(source.read_bytes()) if source.suffix == ".bin" else model.load(source)
    _, excerpts = dataset.split(dataset.load(Path(options.folder) / "items"), options.fold, options.left_out_font)
    excerpts = [excerpt for excerpt in excerpts if excerpt.style != "clicks"]
    excerpts = [excerpts[index] for index in np.random.default_rng(0).permutation(len(excerpts))[:options.limit]]
    activations = []
    for excerpt in excerpts:
        x, onsets = network_input(from_bytes(excerpt.variants[0][0]))
        activations.append(network(torch.from_numpy(x)[None], torch.from_numpy(onsets)[None])[0].numpy())
    groups = {"all": excerpts, **{style: [e for e in excerpts if e.style == style] for style in sorted({e.style for e in excerpts})}}
    for voice, name in enumerate(VOICE_NAMES):
        rows = {threshold: np.array([counts(e, a[voice], voice, threshold) for e, a in zip(excerpts, activations)]) for threshold in THRESHOLDS}
        scores = {threshold: 2 * r[:, 0].sum() / max(1, r[:, 1:].sum()) for threshold, r in rows.items()}
        best = max(scores, key=scores.get)
        print(name, " ".join(f"{threshold:.2f}:{score:.3f}" for threshold, score in scores.items()))
        for group, members in groups.items():
            r = rows[best][[e in members for e in excerpts]]
            without = 60 * r[r[:, 2] == 0, 1].sum() / max(1e-9, sum(len(e.variants[0][0]) for e, x in zip(excerpts, rows[best]) if e in members and x[2] == 0) * FRAME_SECONDS)
            print(f"  {group}: n {len(members)}, F {2 * r[:, 0].sum() / max(1, r[:, 1:].sum()):.3f}, precision {r[:, 0].sum() / max(1, r[:, 1].sum()):.3f}, "
                  f"recall {r[:, 0].sum() / max(1, r[:, 2].sum()):.3f}, false a minute where there are none {without:.1f}")


if __name__ == "__main__":
    main()
