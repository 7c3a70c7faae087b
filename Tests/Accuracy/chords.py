#!/usr/bin/env python3
"""Compares the analyzer `chords` with a template matcher on librosa's `chroma_cqt` on rendered lead sheets.

    chords.py [--hemiola PROGRAM] [--sheets DIR ...] [--count N] [--half 0|1] [--folder DIR]

Pieces are made as described in tonal_pieces.py, at most N of each kind. The figure is the weighted chord symbol recall of all pieces
together: the share of the time of the chords that a vocabulary contains in which the chord is right (mir_eval: majmin and sevenths).
The template matcher takes, for each frame, the chord whose binary template has the largest cosine similarity with the chroma: of major
and minor triads for majmin, and also of 7, min7 and maj7 for sevenths. The constants were chosen with half 0 of the pieces; half 1 is
reported. Needs Python with librosa and mir_eval, and fluidsynth with a soundfont.
"""

import argparse
import pathlib
import tempfile

import librosa
import mir_eval
import numpy as np

import tonal_pieces
from music import records

KINDS = {"sheet": "lead sheets", "cadences": "made songs", "all": "all"}
SHAPES = {"maj": (0, 4, 7), "min": (0, 3, 7), "7": (0, 4, 7, 10), "min7": (0, 3, 7, 10), "maj7": (0, 4, 7, 11)}
LIBROSA_RATE, LIBROSA_HOP = 22_050, 512
MEASURES = {"majmin": 2, "sevenths": 5}


def ours(program, path, *options):
    """Intervals and labels of the chord records of a file."""
    lines = records(program, path, "chords", "--select", "chord", *options)
    chords = [line for line in lines if line["type"] == "chord"]
    starts = [chord["t"] for chord in chords]
    ends = starts[1:] + [chords[-1]["t"] + chords[-1]["duration_s"]]
    return np.array([starts, ends]).T, [chord["label"] for chord in chords]


def templates(chroma, count):
    """Intervals and labels of the chords with the first `count` qualities whose templates are most similar to the chroma."""
    labels, shapes = [], []
    for quality, steps in list(SHAPES.items())[:count]:
        for root, name in enumerate(tonal_pieces.NAMES):
            labels.append(f"{name}:{quality}")
            shapes.append([1 / len(steps) ** 0.5 if (pitch - root) % 12 in steps else 0 for pitch in range(12)])
    best = (np.array(shapes) @ chroma).argmax(axis=0)
    best = np.where(chroma.sum(axis=0) > 0, best, len(labels))
    labels.append("N")
    edges = np.concatenate([[0], np.flatnonzero(np.diff(best)) + 1, [len(best)]])
    times = edges * LIBROSA_HOP / LIBROSA_RATE
    return np.array([times[:-1], times[1:]]).T, [labels[best[edge]] for edge in edges[:-1]]


def right(reference, estimate, measure):
    """Seconds that are right, and seconds of the chords that the vocabulary of the measure contains."""
    intervals, labels = mir_eval.util.adjust_intervals(
        estimate[0], estimate[1], reference[0].min(), reference[0].max(), mir_eval.chord.NO_CHORD, mir_eval.chord.NO_CHORD)
    intervals, truth, labels = mir_eval.util.merge_labeled_intervals(reference[0], reference[1], intervals, labels)
    scores = getattr(mir_eval.chord, measure)(truth, labels)
    durations = mir_eval.util.intervals_to_durations(intervals)
    used = scores >= 0
    return (scores[used] * durations[used]).sum(), durations[used].sum()


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hemiola", default=here.parents[1] / ".build/release/hemiola", metavar="PROGRAM")
    parser.add_argument(
        "--sheets", type=pathlib.Path, action="append", default=[], metavar="DIR", help="lead sheets: .mxl files with chord symbols")
    parser.add_argument("--count", type=int, default=50, help="pieces of each kind")
    parser.add_argument("--half", type=int, choices=(0, 1), default=1)
    parser.add_argument("--folder", type=pathlib.Path, metavar="DIR", help="keep the pieces in DIR")
    arguments = parser.parse_args()
    sums = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or pathlib.Path(temporary)
        names = tonal_pieces.make_all(folder, arguments.sheets, (), arguments.count, arguments.half)
        for kind, name in ((kind, name) for kind, made in names.items() for name in made):
            lines = [line.split() for line in (folder / f"{name}.lab").read_text().splitlines()]
            reference = np.array([[float(start), float(end)] for start, end, _ in lines]), [label for _, _, label in lines]
            audio = folder / "audio" / f"{name}.wav"
            causal, whole = ours(arguments.hemiola, audio, "--causal"), ours(arguments.hemiola, audio)
            signal, _ = librosa.load(audio, sr=LIBROSA_RATE)
            chroma = librosa.feature.chroma_cqt(y=signal, sr=LIBROSA_RATE, hop_length=LIBROSA_HOP)
            sums.setdefault(kind, []).append([
                right(reference, estimate, measure) for measure, count in MEASURES.items()
                for estimate in (templates(chroma, count), causal, whole)])
    print("music\tpieces\t" + "\t".join(f"{measure}: {name}" for measure in MEASURES for name in ("templates", "causal", "whole file")))
    for kind, values in [*sums.items(), ("all", [value for values in sums.values() for value in values])]:
        totals = np.array(values).sum(axis=0)
        print(f"{KINDS[kind]}\t{len(values)}\t" + "\t".join(f"{100 * good / total:.1f} %" for good, total in totals))


if __name__ == "__main__":
    main()
