#!/usr/bin/env python3
"""Compares the analyzer `pitch` with librosa's `pyin` and aubio's `yinfft` on synthesised voices and instruments.

    pitch.py [--hemiola PROGRAM] [--seed N] [--count N] [--only METHOD ...]

Each file has one voice with an exactly known frequency: notes with pauses, glides and vibrato, of eight timbres (two of them with a weak or
missing fundamental), between 65 and 1400 Hz, with white or pink noise at 0, 5, 10 and 20 dB below the voice, or without. The scores are
those of mir_eval.melody: raw pitch accuracy (RPA) and raw chroma accuracy (RCA) within 50 cents, voicing recall (VR) and voicing false
alarm (VFA), each for the value of every 10 ms. Needs Python with librosa, mir_eval and soundfile, and aubiopitch.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import warnings

import librosa
import mir_eval
import numpy as np
import soundfile

# In loud noise, a method may find no pitch in a whole file.
warnings.filterwarnings("ignore", message="Estimated melody has no voiced frames")
RATE = 44_100
STEP = 0.01
LOWEST, HIGHEST = 65.0, 2100.0
NOISES = ["none", "white 20", "white 10", "white 5", "white 0", "pink 10", "pink 0"]


def spectrum(name, harmonics, frequency):
    """The amplitudes of the harmonics of a timbre."""
    numbers = np.arange(1, harmonics + 1)
    if name == "sawtooth":
        return 1 / numbers
    if name == "sine":
        return (numbers == 1) * 1.0
    if name == "clarinet":
        return (numbers % 2) / numbers + 0.02
    if name == "flute":
        return 0.3 ** (numbers - 1)
    if name == "weak fundamental":
        amplitudes = 1 / numbers
        amplitudes[0] = 0.03
        return amplitudes
    if name == "missing fundamental":
        amplitudes = 1 / np.sqrt(numbers)
        amplitudes[0] = 0.0 if harmonics > 3 else 1.0
        return amplitudes
    # Formants of vowels in hertz.
    formants = {"voice a": (730, 1090, 2440), "voice i": (270, 2290, 3010)}[name]
    source = 1 / numbers**1.2
    response = sum(1 / (1 + ((numbers * frequency - formant) / 90) ** 2) for formant in formants)
    return source * (response + 0.02)


TIMBRES = ["sawtooth", "sine", "clarinet", "flute", "weak fundamental", "missing fundamental", "voice a", "voice i"]


def voice(chance, timbre):
    """Samples, and the frequency at every sample (0 where there is no voice)."""
    lowest = chance.choice((65, 98, 130, 220, 350))
    pieces, truths = [], []
    for _ in range(7):
        length = int(chance.uniform(0.25, 1.1) * RATE)
        start = lowest * 2 ** chance.uniform(0, 2)
        kind = chance.choice(("steady", "glide", "vibrato", "steady"))
        moments = np.arange(length) / RATE
        cents = np.zeros(length)
        if kind == "glide":
            cents = np.linspace(0, chance.uniform(-700, 700), length)
        if kind == "vibrato":
            cents = chance.uniform(20, 100) * np.sin(2 * np.pi * chance.uniform(4, 7) * moments)
        frequency = np.maximum(start * 2 ** (cents / 1200), LOWEST * 1.01)
        phase = 2 * np.pi * np.cumsum(frequency) / RATE + chance.uniform(0, 6)
        count = max(1, min(40, int(12_000 / frequency.max())))
        samples = np.zeros(length)
        for number, amplitude in enumerate(spectrum(timbre, count, float(np.median(frequency))), 1):
            samples += amplitude * np.sin(number * phase + chance.uniform(0, 6) * (number > 1))
        attack, release = int(chance.uniform(0.01, 0.05) * RATE), int(chance.uniform(0.02, 0.08) * RATE)
        envelope = np.minimum(1, np.minimum(np.arange(length) / attack, np.arange(length)[::-1] / release))
        envelope *= np.exp(-moments * chance.uniform(0, 1.5))
        pieces.append(samples * envelope / max(1e-9, np.sqrt(np.mean(samples**2))))
        truths.append(np.where(envelope > 0.1, frequency, 0))
        pause = int(chance.choice((0.0, 0.05, 0.2, 0.4)) * RATE)
        pieces.append(np.zeros(pause))
        truths.append(np.zeros(pause))
    return 0.1 * np.concatenate(pieces), np.concatenate(truths)


def noise(chance, kind, samples, truth):
    """Noise of a kind, so many decibels below the mean power of the voice."""
    if kind == "none":
        return np.zeros(len(samples))
    colour, ratio = kind.split()
    generator = np.random.default_rng(chance.randrange(1 << 30))
    bins = np.fft.rfft(generator.standard_normal(len(samples)))
    if colour == "pink":
        bins /= np.sqrt(np.maximum(np.fft.rfftfreq(len(samples), 1 / RATE), 20))
    values = np.fft.irfft(bins, len(samples))
    power = np.mean(samples[truth > 0] ** 2)
    return values * np.sqrt(power / np.mean(values**2) / 10 ** (float(ratio) / 10))


def sampled(times, values, moments):
    """The values at the nearest times; 0 where there is none within a step."""
    index = np.clip(np.searchsorted(times, moments), 1, len(times) - 1)
    index -= moments - times[index - 1] < times[index] - moments
    return np.where(abs(times[index] - moments) < 0.03, np.nan_to_num(values[index]), 0)


def cpu(command, **options):
    """The output and the CPU time of a command."""
    before = os.times()
    output = subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout
    after = os.times()
    return output, after.children_user + after.children_system - before.children_user - before.children_system


def hemiola(program, path, *options):
    output, seconds = cpu([program, "analyze", path, "--analyzer", "pitch", "-q", *options])
    records = [json.loads(line) for line in output.splitlines()]
    feature = records[0]["analyzers"][0]["outputs"][0]
    batches = [record for record in records if record["type"] == "batch"]
    times = np.array([batch["t"] + feature["center_offset_s"] for batch in batches])
    return times, np.array([batch["pitch"]["f0_hz"] or 0 for batch in batches], dtype=float), seconds


def pyin(path):
    start = time.process_time()
    samples, rate = librosa.load(path, sr=None)
    values, _, _ = librosa.pyin(samples, fmin=LOWEST, fmax=HIGHEST, sr=rate)
    return librosa.times_like(values, sr=rate), np.nan_to_num(values), time.process_time() - start


def yinfft(path):
    output, seconds = cpu(["aubiopitch", "-p", "yinfft", "-i", path])
    rows = np.array([[float(word) for word in line.split()] for line in output.splitlines()])
    # aubiopitch prints the start of a hop of 256 frames, at whose end its window of 2048 frames ends.
    return rows[:, 0] + 256 / RATE - 1024 / RATE, rows[:, 1], seconds


def scores(truth, times, values):
    moments = np.arange(0, len(truth) / RATE, STEP)
    reference = truth[(moments * RATE).astype(int)]
    estimate = sampled(times, values, moments)
    result = mir_eval.melody.evaluate(moments, reference, moments, estimate)
    return [result[name] for name in ("Raw Pitch Accuracy", "Raw Chroma Accuracy", "Voicing Recall", "Voicing False Alarm")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--hemiola", default=here.parents[1] / ".build/release/hemiola", metavar="PROGRAM")
    parser.add_argument("--seed", type=int, default=2, help="1: the voices that the constants were chosen on")
    parser.add_argument("--count", type=int, default=112, help="the number of files")
    parser.add_argument("--only", action="append", help="only methods whose names begin so")
    arguments = parser.parse_args()
    methods = {
        "hemiola, causal": lambda path: hemiola(arguments.hemiola, path, "--causal"),
        "hemiola, whole file": lambda path: hemiola(arguments.hemiola, path),
        "librosa pyin": pyin,
        "aubio yinfft": yinfft,
    }
    if arguments.only:
        methods = {name: run for name, run in methods.items() if any(name.startswith(start) for start in arguments.only)}
    results = collections.defaultdict(lambda: collections.defaultdict(list))
    times, duration = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.count):
            chance = random.Random(f"{arguments.seed} {number}")
            timbre, kind = TIMBRES[number % len(TIMBRES)], NOISES[number // len(TIMBRES) % len(NOISES)]
            samples, truth = voice(chance, timbre)
            mixed = samples + noise(chance, kind, samples, truth)
            path = str(pathlib.Path(folder) / "voice.wav")
            soundfile.write(path, mixed / max(1, abs(mixed).max()), RATE, subtype="FLOAT")
            duration += len(samples) / RATE
            if number == 0 and "librosa pyin" in methods:
                pyin(path)  # Compiles functions of librosa.
            for name, run in methods.items():
                stamps, values, seconds = run(path)
                times[name] += seconds
                row = scores(truth, stamps, values)
                for group in ("all", kind, timbre):
                    results[group][name].append(row)
    print(f"{arguments.count} files, {duration:.0f} s; the first row of each group: RPA RCA VR VFA")
    for group in ["all", *NOISES, *TIMBRES]:
        for name, rows in results[group].items():
            print(f"{group:<20} {name:<22}" + " ".join(f"{value:.3f}" for value in np.mean(rows, axis=0)))
    for name, seconds in times.items():
        print(f"CPU time {name:<22} {seconds:7.2f} s, {600 * seconds / duration:.2f} s per 10 minutes")


if __name__ == "__main__":
    sys.exit(main())
