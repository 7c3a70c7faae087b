#!/usr/bin/env python3
"""Compares the analyzer `chroma` with librosa's `chroma_cqt` and `chroma_cens`: how well they agree with the notes that sound.

    chroma.py [--hemiola PROGRAM] [--music DIR] [--count N] [--skip N] [--seconds S]

The MIDI files of DIR, or made ones, are rendered with random instruments; a third of them is out of tune by up to 35 cents. For each
frame in which notes sound, the figure is the cosine similarity of the chroma and of 12 values that are 1 where a note of that pitch
class sounds, else 0. The score of a file is the mean over its frames: those of each program at the centre of their windows. Needs
Python with librosa, soundfile and mido, and fluidsynth with a soundfont.
"""

import argparse
import pathlib
import tempfile

import librosa
import numpy as np
import soundfile

from music import analyze, made_files, midi_files, render, sounding

LIBROSA_RATE = 22_050
LIBROSA_HOP = 512


def score(chroma, notes, times):
    """The mean cosine similarity of the frames in which notes sound."""
    truth = sounding(notes, times)
    use = truth.any(axis=1)
    chroma, truth = chroma[use], truth[use]
    lengths = np.linalg.norm(chroma, axis=1) * np.linalg.norm(truth, axis=1)
    return ((chroma * truth).sum(axis=1) / np.maximum(lengths, 1e-12)).mean()


def ours(program, path):
    """The chroma of each batch, the centres of their windows in seconds, and the last tuning in cents."""
    header, batches = analyze(program, path, "chroma")
    offset = header["analyzers"][0]["outputs"][0]["center_offset_s"]
    values = [batch["chroma"]["bins"] or [None] * 12 for batch in batches]
    chroma = np.array([[0.0 if value is None else value for value in row] for row in values])
    return chroma, np.array([batch["t"] + offset for batch in batches]), batches[-1]["chroma"]["tuning_cents"] or 0.0


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hemiola", default=here.parents[1] / ".build/release/hemiola", metavar="PROGRAM")
    parser.add_argument("--music", type=pathlib.Path, metavar="DIR", help="a folder with MIDI files; without it, music is made")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--skip", type=int, default=0, help="leave out so many of the files that are drawn")
    parser.add_argument("--seconds", type=float, default=45)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        number = arguments.skip + arguments.count
        files = midi_files(arguments.music, number) if arguments.music else made_files(folder, number)
        scores, errors = [], []
        print("file\tHemiola\tchroma_cqt\tchroma_cens\ttuning\tHemiola's\tlibrosa's")
        for midi in files[arguments.skip:]:
            path = folder / "music.wav"
            notes, tuning = render(midi, path, seconds=arguments.seconds)
            chroma, times, tuned = ours(arguments.hemiola, path)
            samples, rate = soundfile.read(path, dtype="float32")
            samples = librosa.resample(samples.mean(axis=1), orig_sr=rate, target_sr=LIBROSA_RATE)
            estimated = 100 * librosa.estimate_tuning(y=samples, sr=LIBROSA_RATE)
            row = [score(chroma, notes, times)]
            for method in (librosa.feature.chroma_cqt, librosa.feature.chroma_cens):
                peer = method(y=samples, sr=LIBROSA_RATE, hop_length=LIBROSA_HOP).T
                row.append(score(peer, notes, np.arange(len(peer)) * LIBROSA_HOP / LIBROSA_RATE))
            scores.append(row)
            errors.append((abs(tuned - tuning), abs(estimated - tuning)))
            columns = [f"{value:.4f}" for value in row] + [f"{value:.0f}" for value in (tuning, tuned, estimated)]
            print("\t".join([midi.name, *columns]), flush=True)
            path.unlink()
        mean = np.mean(scores, axis=0)
        print(f"mean of {len(scores)}: Hemiola {mean[0]:.4f}, librosa chroma_cqt {mean[1]:.4f}, chroma_cens {mean[2]:.4f}")
        better = sum(row[0] > row[1] for row in scores)
        print(f"Hemiola above chroma_cqt in {better} of {len(scores)} files")
        mean = np.mean(errors, axis=0)
        print(f"mean error of the tuning: Hemiola {mean[0]:.1f} cents, librosa {mean[1]:.1f} cents")


if __name__ == "__main__":
    main()
