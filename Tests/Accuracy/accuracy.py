#!/usr/bin/env python3
"""Scores the beats or onsets that `hemiola` detects in a folder of annotated music.

    accuracy.py DATA [--hemiola PROGRAM] [--kind beat|onset] [--peer NAME=FOLDER ...] [--jobs N] [-- OPTION ...]

F when emitted scores each beat at the time of its record or at its own time, whichever is later: what a live client gets. First is the
median time from the first annotated beat to the first correct one.

DATA contains audio/ID.*, annotations/ID.beats or ID.onsets (time in seconds; for beats optionally a TAB and the position in the bar,
1 = downbeat; an empty file: there are no beats) and optionally manifest.csv with the columns id and genre. Options after -- are passed to
`hemiola analyze`, for example --causal. A peer is a folder with estimates of another program, ID.beats or ID.onsets: its scores are printed too, with the
difference of F and its 95 % interval from a paired bootstrap over the files. Requires Python 3.9 with numpy and mir_eval.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys

try:
    import mir_eval
    import numpy
except ImportError as error:
    sys.exit(f"accuracy: {error}; pip install numpy mir_eval")

TRIM = 5.0
SUFFIX = {"beat": ".beats", "onset": ".onsets"}


def read(path):
    """The events of an annotation or estimate: times, and positions in the bar (0: unknown)."""
    times, places = [], []
    for line in path.read_text().splitlines():
        words = line.replace(",", " ").split()
        if not words or words[0].startswith("#"):
            continue
        times.append(float(words[0]))
        places.append(int(float(words[1])) if len(words) > 1 else 0)
    order = numpy.argsort(times, kind="stable") if times else []
    return numpy.array(times)[order] if times else numpy.array([]), numpy.array(places, int)[order] if times else numpy.array([], int)


def analyze(program, files, kind, jobs, options):
    """Runs the program; returns ID → (times, positions in the bar, times at which the records were emitted), and the seconds of each."""
    paths = [str(path) for path in files.values()]
    command = [program, "analyze", "--quiet", f"-j{jobs}", "--analyzer", "beat", "--select", f"{kind},end", *options, "--", *paths]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"accuracy: {' '.join(command[:8])} … failed:\n{run.stderr}")
    found, seconds = {path: ([], [], []) for path in paths}, {}
    for line in run.stdout.splitlines():
        record = json.loads(line)
        if record["type"] == "end":
            seconds[record.get("file", paths[0])] = record["t"]
        if record["type"] != kind:
            continue
        times, places, emitted = found[record.get("file", paths[0])]
        times.append(record["t"])
        places.append(record.get("position") or 0)
        emitted.append(record["emitted_t"])
    result = {}
    for name, path in files.items():
        times, places, emitted = (numpy.array(values) for values in found[str(path)])
        order = numpy.argsort(times, kind="stable")
        result[name] = (times[order], places[order].astype(int), emitted[order]) if len(order) else (times, places, emitted)
    return result, {name: seconds.get(str(path), 0) for name, path in files.items()}


def score(kind, reference, estimate):
    """Scores of one file, or None if the reference has fewer than two beats. Estimates of other programs have no times of emission."""
    (times, places), (found, guesses, *emitted) = reference, estimate
    if kind == "onset":
        if not len(found):
            return {"F": 0.0, "P": 0.0, "R": 0.0}
        return dict(zip("FPR", map(float, mir_eval.onset.f_measure(times, found, window=0.05))))
    beats, ours = mir_eval.beat.trim_beats(times, TRIM), mir_eval.beat.trim_beats(found, TRIM) if len(found) else found
    if len(beats) < 2:
        return None
    scores = dict.fromkeys(("F", "CMLt", "AMLt", "Cemgil") + ("F when emitted",) * len(emitted), 0.0)
    if len(ours):
        continuity = mir_eval.beat.continuity(beats, ours)
        scores |= {
            "F": float(mir_eval.beat.f_measure(beats, ours)), "CMLt": float(continuity[1]), "AMLt": float(continuity[3]),
            "Cemgil": float(mir_eval.beat.cemgil(beats, ours)[0]),
        }
        if emitted:
            late = numpy.sort(numpy.maximum(found, emitted[0]))
            scores["F when emitted"] = float(mir_eval.beat.f_measure(beats, mir_eval.beat.trim_beats(late, TRIM)))
        correct = [time for time in found if abs(times - time).min() <= 0.07]
        if correct:
            scores["first s"] = correct[0] - times[0]
        pairs = mir_eval.util.match_events(beats, ours, 0.07)
        if pairs:
            scores["error ms"] = float(1000 * numpy.median([ours[b] - beats[a] for a, b in pairs]))
    downbeats = times[(places == 1) & (times >= TRIM)]
    if len(downbeats) >= 2 and (guesses > 0).any():
        guessed = found[(guesses == 1) & (found >= TRIM)]
        scores["downbeat F"] = float(mir_eval.beat.f_measure(downbeats, guessed)) if len(guessed) else 0.0
    return scores


def interval(differences, rounds=2000):
    """The 95 % interval of the mean, by bootstrap over the files."""
    values = numpy.array(differences)
    random = numpy.random.default_rng(0)
    means = values[random.integers(0, len(values), (rounds, len(values)))].mean(1)
    return numpy.percentile(means, [2.5, 97.5])


def table(title, columns, rows):
    print(f"| {title} | files | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 2) + "|")
    for name, scores in rows:
        cells = []
        for column in columns:
            values = [result[column] for result in scores if column in result]
            middle = numpy.median if column in ("error ms", "first s") else numpy.mean
            cells.append(f"{middle(values):+.1f}" if values and column == "error ms" else f"{middle(values):.3f}" if values else "–")
        print(f"| {name} | {len(scores)} | " + " | ".join(cells) + " |")
    print()


def main():
    own, rest = sys.argv[1:], []
    if "--" in own:
        place = own.index("--")
        own, rest = own[:place], own[place + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--hemiola", default=".build/release/hemiola")
    parser.add_argument("--kind", choices=["beat", "onset"])
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--jobs", type=int, default=0)
    arguments = parser.parse_args(own)

    annotations = {path.stem: path for path in sorted((arguments.data / "annotations").glob("*.*"))}
    audio = {path.stem: path for path in sorted((arguments.data / "audio").glob("*.*"))}
    files = {name: audio[name] for name in annotations if name in audio}
    if not files:
        sys.exit(f"accuracy: {arguments.data}: no files in audio/ with annotations in annotations/")
    kind = arguments.kind or ("onset" if any(path.suffix == ".onsets" for path in annotations.values()) else "beat")
    references = {name: read(annotations[name]) for name in files}
    genres = {}
    manifest = arguments.data / "manifest.csv"
    if manifest.exists():
        genres = {row["id"]: row.get("genre") or "?" for row in csv.DictReader(manifest.open())}

    answers, seconds = analyze(arguments.hemiola, files, kind, arguments.jobs, rest)
    scored = {name: score(kind, references[name], answers[name]) for name in files}
    ours = {name: result for name, result in scored.items() if result is not None}
    columns = ["F", "P", "R"] if kind == "onset" else ["F", "F when emitted", "CMLt", "AMLt", "Cemgil", "downbeat F", "first s", "error ms"]
    groups = sorted({genres[name] for name in ours if name in genres})
    if ours:
        table(
            "hemiola", columns,
            [(group, [ours[name] for name in ours if genres.get(name) == group]) for group in groups] + [("all", list(ours.values()))])
    if kind == "beat":
        leads = numpy.concatenate([answers[name][0] - answers[name][2] for name in ours] or [numpy.array([])])
        if len(leads):
            print(f"Announced at least 50 ms ahead: {100 * numpy.mean(leads >= 0.05):.0f} % of the beats.\n")
    silent = [name for name in files if not len(references[name][0])]
    if silent:
        minutes, false = sum(seconds[name] for name in silent) / 60, sum(len(answers[name][0]) for name in silent)
        print(f"Without {kind}s: {len(silent)} files, {minutes:.1f} minutes; {false} false {kind}s, {false / minutes:.1f} a minute.\n")

    for text in arguments.peer:
        name, _, folder = text.partition("=")
        theirs = {}
        for file in ours:
            path = pathlib.Path(folder) / (file + SUFFIX[kind])
            estimate = read(path) if path.exists() else (numpy.array([]), numpy.array([], int))
            theirs[file] = score(kind, references[file], estimate)
        table(name, columns, [("all", list(theirs.values()))])
        differences = [ours[file]["F"] - theirs[file]["F"] for file in ours]
        low, high = interval(differences)
        print(f"F of hemiola minus F of {name}: {numpy.mean(differences):+.3f} [{low:+.3f}, {high:+.3f}]\n")


if __name__ == "__main__":
    main()
