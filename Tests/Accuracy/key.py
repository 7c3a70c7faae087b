#!/usr/bin/env python3
"""Compares the analyzer `musical-key` with Essentia's KeyExtractor on rendered music with a known key.

    key.py [--hemiola PROGRAM] [--sheets DIR ...] [--scores DIR ...] [--count N] [--half 0|1] [--folder DIR]
    key.py [--hemiola PROGRAM] --data DIR

Pieces with a certain key are made as described in tonal_pieces.py, at most N of each kind. The figure of a piece is that of MIREX: 1 for the key, 0.5 for
its dominant or subdominant of the same mode, 0.3 for the relative key, 0.2 for the parallel key, else 0. The constants were chosen with
half 0 of the pieces; half 1 is reported. With --data, recordings: DIR has audio/ID.* and keys.tsv, with the columns id and key
("A minor"; "none": there is no key, and none should be reported). Needs Python with essentia, and fluidsynth with a soundfont.
"""

import argparse
import csv
import pathlib
import tempfile

import essentia
import essentia.standard

import tonal_pieces
from music import records

PITCHES = {"C": 0, "C#": 1, "Db": 1, "D": 2, "D#": 3, "Eb": 3, "E": 4, "F": 5, "F#": 6, "Gb": 6, "G": 7, "G#": 8, "Ab": 8, "A": 9,
           "A#": 10, "Bb": 10, "B": 11}
KINDS = {"sheet": "lead sheets", "score": "songs and quartets", "cadences": "made songs", "all": "all"}


def score(key, truth):
    """MIREX's weighted score of a key (tonic, mode)."""
    if key is None:
        return 0.0
    if key == truth:
        return 1.0
    distance = (key[0] - truth[0]) % 12
    if key[1] == truth[1]:
        return 0.5 if distance in (5, 7) else 0.0
    if distance == 0:
        return 0.2
    return 0.3 if distance == (9 if truth[1] == "major" else 3) else 0.0


def key_of(values):
    """(tonic, mode), or None where there is no key."""
    if not values or values["tonic"] is None:
        return None
    return values["tonic_number"], values["mode"]


def keys(program, path, profile):
    """The key of the whole stream, and the causal keys from 5 s on."""
    lines = records(program, path, f"musical-key:profile={profile}", "--causal", "--select", "batch.musical_key,end")
    batches = [line for line in lines if line["type"] == "batch" and line["t"] >= 5]
    return key_of(lines[-1]["summaries"]["musical_key"]), [key_of(line["musical_key"]) for line in batches[::10]]


def ours(program, path, truth, profile):
    """The score of the whole stream, and the mean over time of that of the causal key from 5 s on."""
    whole, causal = keys(program, path, profile)
    return score(whole, truth), sum(score(key, truth) for key in causal) / max(1, len(causal))


def essentia_key(path):
    audio = essentia.standard.MonoLoader(filename=str(path), sampleRate=44_100)()
    tonic, mode, _ = essentia.standard.KeyExtractor()(audio)
    return PITCHES[tonic], mode


def key_named(name):
    tonic, mode = name.split()
    return PITCHES[tonic], mode


def recordings(program, folder):
    """Prints the scores of the recordings with a key, and how many of those without one get a key."""
    with open(folder / "keys.tsv", newline="") as table:
        named = {row["id"]: row["key"] for row in csv.DictReader(table, delimiter="\t")}
    scores, missing, given, silent = [], 0, 0, 0
    for name, key in named.items():
        audio = next((folder / "audio").glob(f"{name}.*"))
        whole, causal = keys(program, audio, "general")
        if key == "none":
            silent += 1
            given += whole is not None or any(other is not None for other in causal)
        else:
            truth = key_named(key)
            scores.append((score(whole, truth), sum(score(other, truth) for other in causal) / max(1, len(causal))))
            missing += whole is None
    means = [sum(column) / len(scores) for column in zip(*scores)]
    print(f"{len(scores)} with a key: whole file {means[0]:.3f}, causal {means[1]:.3f}, {missing} get none; "
          f"{silent} without: {given} get one")


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hemiola", default=here.parents[1] / ".build/release/hemiola", metavar="PROGRAM")
    parser.add_argument(
        "--sheets", type=pathlib.Path, action="append", default=[], metavar="DIR", help="lead sheets: .mxl files with chord symbols")
    parser.add_argument("--scores", type=pathlib.Path, action="append", default=[], metavar="DIR", help="scores: .mxl files")
    parser.add_argument("--count", type=int, default=50, help="pieces of each kind")
    parser.add_argument("--half", type=int, choices=(0, 1), default=1)
    parser.add_argument("--folder", type=pathlib.Path, metavar="DIR", help="keep the pieces in DIR")
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR", help="recordings: audio/ID.* and keys.tsv")
    arguments = parser.parse_args()
    if arguments.data:
        return recordings(arguments.hemiola, arguments.data)
    essentia.log.infoActive = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or pathlib.Path(temporary)
        names = tonal_pieces.make_all(
            folder, arguments.sheets, arguments.scores, arguments.count, arguments.half, needs_key=True)
        columns = ["KeyExtractor", "general", "temperley", "krumhansl", "edma", "causal"]
        rows = {}
        for kind, name in ((kind, name) for kind, made in names.items() for name in made):
            truth = key_named((folder / f"{name}.key").read_text())
            audio = folder / "audio" / f"{name}.wav"
            whole, causal = ours(arguments.hemiola, audio, truth, "general")
            others = [ours(arguments.hemiola, audio, truth, profile)[0] for profile in columns[2:5]]
            rows.setdefault(kind, []).append([score(essentia_key(audio), truth), whole, *others, causal])
    print("music\tpieces\t" + "\t".join(columns))
    for kind, values in [*rows.items(), ("all", [row for values in rows.values() for row in values])]:
        means = [sum(column) / len(values) for column in zip(*values)]
        print(f"{KINDS[kind]}\t{len(values)}\t" + "\t".join(f"{mean:.3f}" for mean in means))


if __name__ == "__main__":
    main()
