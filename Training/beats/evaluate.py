"""Scores networks, or the onset activation alone, on excerpts.

    python -m beats.evaluate FOLDER NETWORK...       a folder of excerpts; checkpoints (.pt) or weights files (.bin), compared with the first
    python -m beats.evaluate FOLDER onsets           the onset activation alone
    python -m beats.evaluate FOLDER times:DIR        beat times from DIR/NAME.beats.csv, for example of another program

Without --fold and --left-out-font all excerpts of the folder count.
"""
import argparse
import json
import zlib
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from . import augment, dataset, decode, export, metrics, model
from .features import FRAME_SECONDS, from_bytes, network_input
from .render import pause_while_present

MEASURES = ("F", "CMLt", "AMLt", "downbeat F", "bars", "tempo", "onset F")
# Onsets: local maxima of the activation above this level, at least 30 ms apart.
ONSET_LEVEL = 0.3
ONSET_DISTANCE = 3
ONSET_WINDOW = 0.05


def pick_onsets(activation, level=ONSET_LEVEL):
    """The times of the local maxima of the onset activation."""
    a = np.pad(activation, ONSET_DISTANCE)
    windows = np.lib.stride_tricks.sliding_window_view(a, 2 * ONSET_DISTANCE + 1)
    return np.flatnonzero((activation >= level) & (activation >= windows.max(axis=1))) * FRAME_SECONDS


def merged(times, distance=0.03):
    """Leaves out times that are closer than `distance` to the one before."""
    result = []
    for time in times:
        if not result or time - result[-1] >= distance:
            result.append(time)
    return np.array(result)


class Estimator:
    """Beats, downbeats and onsets of an excerpt, from a network, from the onset activation, or from a folder of beat times.
    `noise`: pink noise is added, so many decibels below the excerpt."""

    def __init__(self, source, is_causal=None, noise=None):
        self.hmm, self.network, self.times, self.noise = decode.BeatHMM(), None, None, noise
        self.is_causal = is_causal
        if source.startswith("times:"):
            self.times = Path(source[len("times:"):])
        elif source != "onsets":
            self.network = export.from_file(Path(source).read_bytes()) if source.endswith(".bin") else model.load(source)
            self.is_causal = self.network.is_causal if is_causal is None else is_causal

    @torch.no_grad()
    def activations(self, bands):
        """Onset, beat and downbeat activations, and the network's beat probability without the onset share."""
        x, onsets = network_input(bands)
        if self.network is None:
            return onsets, onsets, np.zeros_like(onsets), None
        onset, beat, downbeat = self.network(torch.from_numpy(x)[None], torch.from_numpy(onsets)[None])[0].numpy()
        share = self.network.onset_share
        return onset, beat, downbeat, np.clip((beat - share * onsets) / (1 - share), 0, 1)

    def estimate(self, excerpt):
        """(beats in seconds, their places in the bar from 1 or 0, onsets in seconds)."""
        if self.times is not None:
            rows = [line.split(",") for line in (self.times / f"{excerpt.path.stem}.beats.csv").read_text().split()]
            return (np.array([float(row[0]) for row in rows]), np.array([int(row[1]) if len(row) > 1 and row[1] else 0 for row in rows], int),
                    np.zeros(0))
        bands = from_bytes(excerpt.variants[0][0])
        if self.noise is not None:
            rng = np.random.default_rng(zlib.crc32(excerpt.path.name.encode()))
            bands = augment.mix(bands, augment.noise(rng, len(bands), augment.PINK), self.noise)
        onset, beat, downbeat, network_beat = self.activations(bands)
        is_present = None if network_beat is None else decode.presence(network_beat, self.is_causal is not False)
        beats = self.hmm.viterbi(beat, is_present) if self.is_causal is False else self.hmm.forward(beat, is_present)
        return beats, decode.bar_positions(beats, beat, downbeat), pick_onsets(onset)


def are_bars_right(reference, reference_positions, beats, positions):
    """Whether most of the beats that are near a labelled one have its place in the bar."""
    if not len(beats) or not positions.any():
        return False
    nearest = abs(beats[:, None] - reference).argmin(axis=1)
    used = (abs(beats - reference[nearest]) < 0.05) & (positions > 0) & (reference_positions[nearest] > 0)
    return bool(used.any() and np.mean(reference_positions[nearest][used] == positions[used]) > 0.5)


def score(excerpt, beats, positions, onsets):
    """The measures of one excerpt; None where one does not apply. Without beats: false beats per minute."""
    downbeats = beats[positions == 1]
    reference = excerpt.marked_beats
    seconds = len(excerpt.variants[0][0]) * FRAME_SECONDS
    if not len(reference):
        return {"false beats/min": 60 * len(beats) / seconds}
    result = {"F": metrics.f_measure(reference, beats), "CMLt": metrics.cml_t(reference, beats), "AMLt": metrics.aml_t(reference, beats)}
    # Before the first note and after the last one nothing is labelled: estimates there do not count.
    if excerpt.positions.min() > 0:
        result["bars"] = float(are_bars_right(reference, excerpt.positions, beats, positions))
        result["downbeat F"] = metrics.f_measure(reference[excerpt.positions == 1], downbeats)
    if len(beats) > 3:
        trimmed = metrics.trim(beats)
        # Below 1 the estimate is too slow.
        result["tempo ratio"] = float(np.median(np.diff(reference)) / np.median(np.diff(trimmed))) if len(trimmed) > 1 else 0.0
        result["tempo"] = float(abs(result["tempo ratio"] - 1) < 0.04)
    else:
        result["tempo"] = 0.0
    if excerpt.about["has_onsets"] and len(excerpt.onsets):
        first, last = excerpt.onsets.min() - 0.1, excerpt.onsets.max() + 0.1
        marked = merged(excerpt.onsets + dataset.ONSET_DELAY * FRAME_SECONDS)
        result["onset F"] = metrics.f_measure(marked, onsets[(onsets > first) & (onsets < last)], ONSET_WINDOW, 0)
    return result


# The levels of a tempo by its ratio to the labelled one.
LEVELS = {"right": 1, "double": 2, "half": 1 / 2, "triple": 3, "third": 1 / 3, "3 : 2": 3 / 2, "2 : 3": 2 / 3}
TEMPI = (40, 55, 70, 85, 100, 120, 140, 160, 250)


def level_of(ratio):
    return next((name for name, value in LEVELS.items() if abs(ratio / value - 1) < 0.06), "other")


def levels_table(title, tempi, ratios):
    """How often excerpts of a labelled tempo are found at which level."""
    names = [*LEVELS, "other"]
    lines = [f"| {title}, BPM | n | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for low, high in zip(TEMPI, TEMPI[1:]):
        found = [level_of(ratio) for tempo, ratio in zip(tempi, ratios) if low <= tempo < high]
        if found:
            lines.append(f"| {low}–{high} | {len(found)} | " + " | ".join(f"{found.count(name) / len(found):.2f}" for name in names) + " |")
    return "\n".join(lines)


def mean(rows, measure):
    values = [row[measure] for row in rows if measure in row]
    return np.mean(values) if values else float("nan")


def table(title, excerpts, rows):
    groups = defaultdict(list)
    for excerpt, row in zip(excerpts, rows):
        groups["all"].append(row)
        groups[excerpt.style].append(row)
    lines = [f"| {title} | n | " + " | ".join(MEASURES) + " | false beats/min |", "|---" * (len(MEASURES) + 3) + "|"]
    for name, group in groups.items():
        values = [mean(group, measure) for measure in (*MEASURES, "false beats/min")]
        lines.append(f"| {name} | {len(group)} | " + " | ".join("–" if np.isnan(v) else f"{v:.3f}" for v in values) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="folder with .npz excerpts")
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--fold", type=int)
    parser.add_argument("--left-out-font")
    parser.add_argument("--limit", type=int, default=200, help="number of excerpts, chosen at random (default 200)")
    parser.add_argument("--noise", type=float, metavar="DB", help="add pink noise, so many decibels below the excerpt")
    parser.add_argument("--whole-file", action="store_true", help="decode the onset activation with the Viterbi algorithm")
    parser.add_argument("--json", help="write the rows to this file")
    parser.add_argument("--pause-file")
    options = parser.parse_args()
    torch.set_num_threads(1)
    excerpts = dataset.load(options.folder)
    if options.fold is not None or options.left_out_font:
        _, excerpts = dataset.split(excerpts, options.fold, options.left_out_font)
    excerpts = [excerpts[index] for index in np.random.default_rng(0).permutation(len(excerpts))[:options.limit]]
    results = {}
    for source in options.sources:
        estimator = Estimator(source, False if options.whole_file else None, options.noise)
        rows = []
        for excerpt in excerpts:
            pause_while_present(options.pause_file)
            rows.append(score(excerpt, *estimator.estimate(excerpt)))
        results[source] = rows
        print(table(Path(source).name, excerpts, rows), flush=True)
        steady = [(60 / np.median(np.diff(excerpt.beats)), row["tempo ratio"]) for excerpt, row in zip(excerpts, rows) if row.get("tempo ratio")]
        if steady:
            print(levels_table(Path(source).name, *zip(*steady)), flush=True)
        first = results[options.sources[0]]
        for measure in ("F", "AMLt", "tempo", "bars") if source != options.sources[0] else ():
            # Excerpts of one piece are not independent: the bootstrap draws pieces.
            pieces = defaultdict(list)
            for excerpt, a, b in zip(excerpts, rows, first):
                if measure in a:
                    pieces[excerpt.about["piece"]].append(a[measure] - b[measure])
            if not pieces:
                continue
            difference = metrics.paired_bootstrap([np.mean(values) for values in pieces.values()])
            print(f"{measure} against {Path(options.sources[0]).name}: {difference[0]:+.3f} [{difference[1]:+.3f}, {difference[2]:+.3f}], "
                  f"{len(pieces)} pieces")
    if options.json:
        Path(options.json).write_text(json.dumps({"excerpts": [excerpt.path.name for excerpt in excerpts], "rows": results}))


if __name__ == "__main__":
    main()
