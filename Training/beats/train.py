"""Trains one network; resumes from its checkpoint. `python -m beats.train DATA CHECKPOINT --fold 0`."""
import argparse
import copy
import math
import os
import time
from pathlib import Path

import numpy as np
import torch

from . import dataset, export
from .model import LAYERS, BeatNetwork, widened
from .render import pause_while_present

FRAMES = 2000
BATCH = 8
RATE = 5e-3
AVERAGE = 0.995
# The weights of the heads' losses: onset, beat, downbeat.
HEAD_WEIGHTS = torch.tensor([0.5, 1.0, 1.0])
# The weight of the tempo head's loss, per frame as the others'.
TEMPO_WEIGHT = 0.02
# The weight of the bar head's loss, per beat.
BAR_WEIGHT = 0.03
SAVE_SECONDS = 120


def loss_of(output, targets, mask):
    """The mean binary cross entropy of each head where its mask is 1."""
    output = output.clamp(1e-5, 1 - 1e-5)
    entropy = -(targets * output.log() + (1 - targets) * (1 - output).log())
    return (entropy * mask).sum(dim=(0, 2)) / mask.sum(dim=(0, 2)).clamp(min=1)


def tempo_loss(logits, weights):
    """The mean cross entropy of the tempo head over the excerpts whose tempo is known."""
    entropy = -(weights * torch.log_softmax(logits, dim=1)).sum(dim=1)
    return entropy.sum() / (weights.sum(dim=1) > 0).sum().clamp(min=1)


def bar_loss(logits, places):
    """The mean cross entropy of the bar head at beats whose bar is known."""
    if (places < 0).all():
        return logits.sum() * 0
    return torch.nn.functional.cross_entropy(logits, places, ignore_index=-1)


def save(path, state):
    partial = Path(path).with_suffix(".partial")
    torch.save(state, partial)
    os.replace(partial, path)


@torch.no_grad()
def validation_loss(network, excerpts, limit=64, drums=False):
    """The heads' mean losses on the first 20 s of unchanged excerpts."""
    if not excerpts:
        return torch.zeros(3)
    rng = np.random.default_rng(0)
    chosen = copy.copy(excerpts)
    rng.shuffle(chosen)
    total = []
    for excerpt in chosen[:limit]:
        clean = copy.copy(excerpt)
        clean.variants = excerpt.variants[:1]
        columns = dataset.make_example(rng, clean, FRAMES, None, augmented=False, drums=drums)
        x, onsets, y, mask, _, _ = (torch.from_numpy(column)[None] for column in columns)
        total.append(loss_of(network(x, onsets), y, mask))
    return torch.stack(total).mean(dim=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="folder with rendered excerpts")
    parser.add_argument("checkpoint", help="file of the network, its optimizer and its progress")
    parser.add_argument("--fold", type=int, help="fold of pieces kept for validation (0–4; default: train on all)")
    parser.add_argument("--left-out-font", help="soundfont kept for validation")
    parser.add_argument("--whole-file", action="store_true", help="train the variant that looks ahead")
    parser.add_argument("--from", dest="start", metavar="FILE",
                        help="begin with the weights of a weights file, whose variant and onset settings stay; --width may be larger; "
                             "with --drums: with those of its convolutions over bands")
    parser.add_argument("--rate", type=float, default=RATE, help="highest learning rate (default 5e-3; 5e-4 is right after --from)")
    parser.add_argument("--width", type=int, help="hidden values (default 24, or those of --from)")
    parser.add_argument("--drums", action="store_true", help="learn kick, snare and hi-hat in place of onset, beat and downbeat")
    parser.add_argument("--blocks", type=int, default=LAYERS, help="number of dilated convolutions (default 9)")
    parser.add_argument("--onset-share", type=float, default=0.35)
    parser.add_argument("--no-onset-input", action="store_true")
    parser.add_argument("--harmonic-input", action="store_true", help="the change of 12 pitch classes as input; Hemiola does not load it yet")
    parser.add_argument("--tempo-head", action="store_true", help="learn the tempo of each excerpt too; no part of the weights file")
    parser.add_argument("--bar-head", action="store_true", help="learn each beat's place in its bar too; no part of the weights file")
    parser.add_argument("--no-augmentation", action="store_true")
    parser.add_argument("--no-delay", action="store_true", help="labels at the note-ons")
    parser.add_argument("--steps", type=int, default=6000, help="number of batches (default 6000)")
    parser.add_argument("--excerpts", type=int, help="use only the first excerpts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pause-file", help="wait while this file exists")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

    excerpts = {}

    def read_excerpts():
        """(training, validation); excerpts that were rendered since the last call join."""
        for path in sorted((Path(options.data) / "items").glob("*.npz"))[:options.excerpts]:
            if path not in excerpts:
                excerpts[path] = dataset.Excerpt(path)
                if options.no_delay:
                    excerpts[path].delay = 0
        training, validation = dataset.split([excerpts[path] for path in sorted(excerpts)], options.fold, options.left_out_font)
        return training, [] if options.fold is None and not options.left_out_font else validation

    training, validation = read_excerpts()
    torch.manual_seed(options.seed)
    if options.start and not options.drums:
        network = export.from_file(Path(options.start).read_bytes())
        if network.is_causal == options.whole_file:
            parser.error(f"--from {options.start}: the network is {'causal' if network.is_causal else 'for whole files'}")
        if options.width or options.tempo_head or options.bar_head:
            network = widened(network, options.width or network.settings["width"], options.tempo_head, options.bar_head)
    else:
        network = BeatNetwork(width=options.width or 24, is_causal=not options.whole_file, onset_share=options.onset_share,
                              has_onset_input=not options.no_onset_input, has_harmonic_input=options.harmonic_input,
                              has_tempo_head=options.tempo_head, has_bar_head=options.bar_head, blocks=options.blocks)
        if options.start:
            network.copy_front(export.from_file(Path(options.start).read_bytes()))
    average = copy.deepcopy(network)
    optimizer = torch.optim.AdamW(network.parameters(), lr=options.rate, weight_decay=1e-3)
    step, epoch, seconds = 0, 0, 0.0
    if Path(options.checkpoint).exists():
        state = torch.load(options.checkpoint, weights_only=True)
        network.load_state_dict(state["network"])
        average.load_state_dict(state["average"])
        optimizer.load_state_dict(state["optimizer"])
        step, epoch, seconds = state["step"], state["epoch"], state["seconds"]
    print(f"{len(training)} training, {len(validation)} validation excerpts; "
          f"{sum(p.numel() for p in network.parameters())} weights; step {step} of {options.steps}", flush=True)

    def progress():
        return {"settings": network.settings, "network": network.state_dict(), "average": average.state_dict(),
                "optimizer": optimizer.state_dict(), "step": step, "epoch": epoch, "seconds": seconds,
                "excerpts": len(training), "arguments": vars(options)}

    saved, start, losses = time.time(), time.time(), []
    while step < options.steps:
        rng = np.random.default_rng([options.seed, epoch, step])
        network.train()
        if options.start:
            # A weights file holds the normalization's result, not the statistics of its input.
            network.normalization.eval()
        for batch in dataset.batches(rng, training, BATCH, FRAMES, not options.no_augmentation, options.drums):
            pause_while_present(options.pause_file)
            x, onsets, y, mask, tempi, places = map(torch.from_numpy, batch)
            rate = options.rate * min(1, (step + 1) / 200) * 0.5 * (1 + math.cos(math.pi * min(1, step / options.steps)))
            for group in optimizer.param_groups:
                group["lr"] = rate
            hidden = network.hidden(x, onsets)
            loss = loss_of(network.outputs(hidden, onsets), y, mask)
            total = loss.sum() if options.drums else (loss * HEAD_WEIGHTS).sum()
            if network.tempo_head is not None:
                total = total + TEMPO_WEIGHT * tempo_loss(network.tempo(hidden), tempi)
            if network.bar_head is not None:
                total = total + BAR_WEIGHT * bar_loss(network.bar_head(hidden), places)
            optimizer.zero_grad()
            total.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            step += 1
            share = min(AVERAGE, step / (step + 20))
            with torch.no_grad():
                for mean, value in zip(average.state_dict().values(), network.state_dict().values()):
                    if mean.dtype.is_floating_point:
                        mean.lerp_(value, 1 - share)
                    else:
                        mean.copy_(value)
            losses.append(loss.detach())
            if time.time() - saved > SAVE_SECONDS:
                seconds, saved = seconds + time.time() - start, time.time()
                start = saved
                save(options.checkpoint, progress())
            if step >= options.steps:
                break
        epoch += 1
        training, validation = read_excerpts()
        seconds, start = seconds + time.time() - start, time.time()
        save(options.checkpoint, progress())
        mean = torch.stack(losses).mean(dim=0)
        losses = []
        measured = validation_loss(average.eval(), validation, drums=options.drums)
        print(f"epoch {epoch} step {step} {seconds:.0f} s: training onset {mean[0]:.4f} beat {mean[1]:.4f} downbeat {mean[2]:.4f}; "
              f"validation {measured[0]:.4f} {measured[1]:.4f} {measured[2]:.4f}", flush=True)


if __name__ == "__main__":
    main()
