#!/usr/bin/env python3
"""Scores the segment boundaries of `hemiola --analyzer structure` and of librosa on made music.

    structure.py FOLDER --hemiola PROGRAM [--songs N] [--medleys N] [--without-librosa]

Makes the music of structure_music.py in FOLDER where it is missing. Prints the mean F of boundaries within 0.5 s and 3 s, without the
start and the end (mir_eval.segment.detection, trim), for the even seeds, on which constants were selected, and for the odd ones.
librosa: beat-synchronous chroma_cqt and MFCC, each standardized, and segment.agglomerative with the true number of segments.
Requires Python 3.9 with numpy, mir_eval and librosa, and fluidsynth, the soundfont FluidR3_GM and flac.
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True

try:
    import mir_eval
    import numpy
except ImportError as error:
    sys.exit(f"structure: {error}; pip install numpy mir_eval librosa")

import structure_music  # noqa: E402


def reference(path):
    times = [float(line.split("\t")[0]) for line in path.with_suffix(".segments").read_text().splitlines()]
    return numpy.array([0.0, *times[1:]])


def hemiola(program, path, options):
    """The boundaries of a file in seconds."""
    command = [program, "analyze", "--quiet", "--analyzer", "structure", "--select", "segment", *options, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"structure: {path}: {run.stderr.strip()}")
    return [record["t"] for record in map(json.loads, run.stdout.splitlines()) if record["type"] == "segment"]


def librosa_boundaries(path, count):
    """The boundaries of librosa's agglomerative segmentation into that many segments."""
    import librosa

    samples, rate = librosa.load(path)
    chroma = librosa.feature.chroma_cqt(y=samples, sr=rate)
    mfcc = librosa.feature.mfcc(y=samples, sr=rate, n_mfcc=13)
    _, beats = librosa.beat.beat_track(y=samples, sr=rate, trim=False)
    beats = librosa.util.fix_frames(beats, x_min=0, x_max=min(chroma.shape[1], mfcc.shape[1]) - 1)
    parts = []
    for values in (chroma, mfcc):
        values = librosa.util.sync(values, beats)
        parts.append((values - values.mean(axis=1, keepdims=True)) / (values.std(axis=1, keepdims=True) + 1e-9))
    features = numpy.vstack(parts)
    starts = librosa.segment.agglomerative(features, min(count, features.shape[1]))
    return librosa.frames_to_time(numpy.concatenate([[0], beats])[starts], sr=rate)


def score(found, times):
    """F within 0.5 s and 3 s."""
    end = times[-1]
    found = numpy.unique([0.0, *(time for time in found if 0 < time < end - 0.01), end])
    return [
        mir_eval.segment.detection(numpy.stack([times[:-1], times[1:]], 1), numpy.stack([found[:-1], found[1:]], 1), window=window, trim=True)[2]
        for window in (0.5, 3)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--hemiola", required=True)
    parser.add_argument("--songs", type=int, default=10)
    parser.add_argument("--medleys", type=int, default=6)
    parser.add_argument("--without-librosa", action="store_true")
    arguments = parser.parse_args()
    paths = structure_music.make(arguments.folder, arguments.songs, arguments.medleys)
    rows = {}
    for path in paths:
        times = reference(path)
        half = int(path.stem.split("-")[1]) % 2
        found = {
            "hemiola --whole-file": hemiola(arguments.hemiola, path, ["--whole-file"]), "hemiola, live method": hemiola(arguments.hemiola, path, [])}
        if not arguments.without_librosa:
            found["librosa agglomerative, true number"] = librosa_boundaries(path, len(times) - 1)
        for name, boundaries in found.items():
            rows.setdefault(name, ([], []))[half].append(score(boundaries, times))
    print(f"{'F':36} {'even: 0.5 s':>12} {'3 s':>6} {'odd: 0.5 s':>12} {'3 s':>6}")
    for name, halves in rows.items():
        means = [mean for half in halves for mean in (numpy.mean(half, axis=0) if half else [numpy.nan, numpy.nan])]
        print(f"{name:36} {means[0]:12.3f} {means[1]:6.3f} {means[2]:12.3f} {means[3]:6.3f}")


if __name__ == "__main__":
    main()
