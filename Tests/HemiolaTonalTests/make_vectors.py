#!/usr/bin/env python3
"""Computes vectors.json: librosa's constant-Q magnitudes and chroma of sums of sines. Needs Python with librosa 0.11.

    Tests/HemiolaTonalTests/make_vectors.py
"""

import json
import pathlib

import librosa
import numpy as np

RATE = 44_100
SECONDS = 2
LOWEST = 32.703
BINS = 84


def signal(partials):
    time = np.arange(SECONDS * RATE) / RATE
    return sum(amplitude * np.sin(2 * np.pi * hertz * time) for hertz, amplitude in partials)


def levels(samples):
    """Levels in dB in the middle of the signal; a full-scale sine reads 0."""
    magnitudes = np.abs(librosa.cqt(samples, sr=RATE, fmin=LOWEST, n_bins=BINS, hop_length=1024))
    lengths, _ = librosa.filters.wavelet_lengths(freqs=librosa.cqt_frequencies(BINS, fmin=LOWEST), sr=RATE)
    return 20 * np.log10(np.maximum(magnitudes[:, magnitudes.shape[1] // 2] * 2 / np.sqrt(lengths), 1e-6))


def chord(*notes, cents=0):
    """Notes with six harmonics each, as [hertz, amplitude]."""
    return [
        [round(float(440 * 2 ** ((note - 69 + cents / 100) / 12) * number), 6), round(0.1 / number, 6)]
        for note in notes for number in range(1, 7)
    ]


def main():
    tones = [[36.71, 0.3], [82.41, 0.1], [196.3, 0.02], [523.25, 0.1], [1318.5, 0.03], [3500.0, 0.1]]
    chords = [chord(48, 60, 64, 67), chord(45, 60, 64, 69), chord(43, 59, 62, 65), chord(50, 65, 69, 74, cents=-30), chord(61, cents=25)]
    vectors = {
        "recipe": f"librosa {librosa.__version__}, numpy {np.__version__}",
        "tones": tones,
        "levels": [round(float(level), 4) for level in levels(signal(tones))],
        "chords": [
            {"partials": partials, "chroma": [round(float(value), 5) for value in np.median(
                librosa.feature.chroma_cqt(y=signal(partials), sr=RATE)[:, 40:-40], axis=1)],
             "tuning_cents": round(100 * float(librosa.estimate_tuning(y=signal(partials), sr=RATE)), 1)}
            for partials in chords
        ],
    }
    path = pathlib.Path(__file__).resolve().with_name("vectors.json")
    path.write_text(json.dumps(vectors, indent=1) + "\n")


if __name__ == "__main__":
    main()
