#!/usr/bin/env python3
"""Compares the magnitudes of the analyzer `cqt` with those of librosa's `cqt`.

    cqt.py [--hemiola PROGRAM] [--music DIR ...] [--count N] [FILE ...]

Steady tones: the bin with the largest magnitude, and its level. Music: for each bin, the correlation of the levels over time, each
program's frames at the centres of their windows. The music is the files; or the bundled minuet, and N rendered MIDI files of each
--music DIR, or N made ones. Needs Python with librosa, soundfile and mido, and fluidsynth with a soundfont.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import librosa
import numpy as np
import soundfile

from music import analyze, made_files, midi_files, render

RATE = 44_100
LOWEST = 32.703
BINS = 84
# The shortest hop for seven octaves: the windows of the highest bins are 4 ms long.
LIBROSA_HOP = 64
# Levels below this are those of side lobes and of the noise of 16-bit files.
LEAST = -80.0


def librosa_levels(samples):
    """librosa's magnitudes in decibels, one row per frame; a full-scale sine reads 0."""
    magnitudes = np.abs(librosa.cqt(samples, sr=RATE, fmin=LOWEST, n_bins=BINS, hop_length=LIBROSA_HOP))
    lengths, _ = librosa.filters.wavelet_lengths(freqs=librosa.cqt_frequencies(BINS, fmin=LOWEST), sr=RATE)
    return 20 * np.log10(np.maximum(magnitudes.T * 2 / np.sqrt(lengths), 1e-6))


def our_levels(program, path):
    """The magnitudes of the program in decibels, one row per batch, and the centre of each bin's window in seconds."""
    header, batches = analyze(program, path, f"cqt:octaves={BINS // 12},min_hz={LOWEST},delays=true")
    end = header["batch_frames"] / header["sample_rate"]
    levels = np.array([batch["cqt"]["magnitudes_db"] for batch in batches])
    centers = np.array([[batch["t"] + end] for batch in batches]) - np.array([batch["cqt"]["delays_s"] for batch in batches])
    return levels, centers


def tones(program, folder):
    """Prints how far the level and bin of steady tones are from librosa's."""
    chance = random.Random(21)
    wrong, errors = 0, []
    for _ in range(60):
        bin_number, level = chance.randrange(BINS), chance.choice((-1, -6, -20, -40))
        # Up to 0.4 bins from the centre: further off, two bins have nearly the same level.
        frequency = LOWEST * 2 ** ((bin_number + chance.uniform(-0.4, 0.4)) / 12)
        samples = 10 ** (level / 20) * np.sin(2 * np.pi * frequency * np.arange(2 * RATE) / RATE + chance.random())
        path = folder / "tone.wav"
        soundfile.write(path, samples, RATE, subtype="FLOAT")
        ours = our_levels(program, path)[0][-4]
        theirs = librosa_levels(samples)
        theirs = theirs[len(theirs) // 2]
        wrong += int(ours.argmax() != theirs.argmax())
        errors.append(abs(ours[theirs.argmax()] - theirs.max()))
    print(f"{len(errors)} tones: another bin than librosa's in {wrong}, largest difference of level {max(errors):.3f} dB")


def correlations(program, path):
    """For each bin, the correlation of the program's levels with librosa's over time; NaN where the bin is silent."""
    levels, centers = our_levels(program, path)
    samples, rate = soundfile.read(path, dtype="float32")
    if rate != RATE:
        sys.exit(f"cqt: {path} has {rate} Hz; use a file with {RATE} Hz")
    theirs = librosa_levels(samples.reshape(len(samples), -1).mean(axis=1))
    times = np.arange(len(theirs)) * LIBROSA_HOP / RATE
    result = []
    for number in range(BINS):
        # Windows that reach over the ends of the file differ.
        use = (centers[:, number] > 0.3) & (centers[:, number] < times[-1] - 0.3)
        one = np.maximum(levels[use, number], LEAST)
        other = np.maximum(np.interp(centers[use, number], times, theirs[:, number]), LEAST)
        result.append(np.corrcoef(one, other)[0, 1] if min(one.std(), other.std()) > 1 else np.nan)
    return np.array(result)


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--hemiola", default=here.parents[1] / ".build/release/hemiola", metavar="PROGRAM")
    parser.add_argument("--music", type=pathlib.Path, action="append", metavar="DIR", help="a folder with MIDI files")
    parser.add_argument("--count", type=int, default=8, help="rendered files of each folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tones(arguments.hemiola, folder)
        files = {path.name: path for path in arguments.files or sorted((here.parents[1] / "examples/music").glob("*.flac"))}
        made = [midi for music in arguments.music or [] for midi in midi_files(music, arguments.count)]
        made = made or made_files(folder, arguments.count)
        for number, midi in enumerate([] if arguments.files else made):
            files[midi.name] = folder / f"{number}.wav"
            render(midi, files[midi.name], seconds=45)
        everything = []
        for name, path in files.items():
            values = correlations(arguments.hemiola, path)
            everything.append(values)
            print(f"{name}: correlation per bin: median {np.nanmedian(values):.4f}, lowest {np.nanmin(values):.4f}"
                  f" (bin {int(np.nanargmin(values))})", flush=True)
        values = np.concatenate(everything)
        values = values[np.isfinite(values)]
        print(f"all {len(files)} files: median {np.median(values):.4f}, 5th percentile {np.percentile(values, 5):.4f}, lowest"
              f" {values.min():.4f}; at least 0.95: {100 * (values >= 0.95).mean():.1f} % of the bins")


if __name__ == "__main__":
    main()
