#!/usr/bin/env python3
"""Compares the analyzer `chroma` with librosa's `chroma_cqt` and `chroma_cens`: how well they agree with the notes that sound.

    chroma.py [--hemiola PROGRAM] [--music DIR ...] [--count N] [--skip N] [--seconds S]

N MIDI files of each DIR, and N made ones, are rendered with random instruments; a third of them is out of tune by up to 35 cents. For each
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


def compare(program, midi, seconds):
    """The scores of Hemiola, `chroma_cqt` and `chroma_cens` for a MIDI file, and the tuning: that of the file, Hemiola's, librosa's."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "music.wav"
        notes, tuning = render(midi, path, seconds=seconds)
        chroma, times, tuned = ours(program, path)
        samples, rate = soundfile.read(path, dtype="float32")
    samples = librosa.resample(samples.mean(axis=1), orig_sr=rate, target_sr=LIBROSA_RATE)
    values = [score(chroma, notes, times)]
    for method in (librosa.feature.chroma_cqt, librosa.feature.chroma_cens):
        peer = method(y=samples, sr=LIBROSA_RATE, hop_length=LIBROSA_HOP).T
        values.append(score(peer, notes, np.arange(len(peer)) * LIBROSA_HOP / LIBROSA_RATE))
    return values, [tuning, tuned, 100 * librosa.estimate_tuning(y=samples, sr=LIBROSA_RATE)]


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hemiola", default=here.parents[1] / ".build/release/hemiola", metavar="PROGRAM")
    parser.add_argument("--music", type=pathlib.Path, action="append", default=[], metavar="DIR", help="a folder with MIDI files")
    parser.add_argument("--count", type=int, default=20, help="files of each kind")
    parser.add_argument("--skip", type=int, default=12, help="leave out the first files drawn: constants were chosen on 12 of POP909")
    parser.add_argument("--seconds", type=float, default=45)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        kinds = {music.resolve().name: midi_files(music, arguments.count, arguments.skip) for music in arguments.music}
        kinds["made music"] = made_files(folder, arguments.count)
        print("file\tHemiola\tchroma_cqt\tchroma_cens\ttuning\tHemiola's\tlibrosa's")
        for kind, files in kinds.items():
            results = []
            for midi in files:
                scores, tunings = compare(arguments.hemiola, midi, arguments.seconds)
                results.append((scores, tunings))
                columns = [f"{value:.4f}" for value in scores] + [f"{value:.0f}" for value in tunings]
                print("\t".join([midi.name, *columns]), flush=True)
            means = np.mean([scores for scores, _ in results], axis=0)
            better = sum(scores[0] > scores[1] for scores, _ in results)
            errors = np.mean([[abs(tuned - tunings[0]) for tuned in tunings[1:]] for _, tunings in results], axis=0)
            rows.append("\t".join([
                kind, str(len(results)), *(f"{value:.3f}" for value in means), str(better), *(f"{value:.1f}" for value in errors)]))
    print("\nmusic\tfiles\tHemiola\tchroma_cqt\tchroma_cens\tabove chroma_cqt\ttuning error, cents\tlibrosa's")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
