"""How well `beat:phrases=true` counts the phrases of tracker modules, whose order of patterns says where phrases begin.

    python -m beats.phrases HEMIOLA FILE...     MOD, XM, IT, S3M, played by libopenmpt, or FLAC of `beats.drops`

A pattern begins where the order moves on. It can be heard if less than three quarters of the notes of its first four bars are those of
the four bars before (same row, instrument and pitch), or if an instrument with four notes or more enters or leaves. Modules count whose
audible patterns begin 4, 8, 12 … bars after the one before in three of four cases. A phrase is right within half a bar. In the tracks of
`beats.drops`, patterns of four bars begin with each section, and the first one can be heard.
"""
import argparse
import json
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import soundfile

from .features import SAMPLE_RATE
from .real import play_module, read_audio, rows_per_beat

LONGEST, SHORTEST = 300.0, 60.0
UNCHANGED, NOTES_OF_INSTRUMENT = 0.75, 4


def pattern_starts(rows, patterns):
    """The starts of patterns in seconds, whether each can be heard, and the length of a bar in seconds."""
    times, numbers = np.array([row[0] for row in rows]), np.array([row[3] for row in rows])
    step = rows_per_beat(times)
    usual = Counter(len(patterns[row[2]]) for row in rows).most_common(1)[0][0]
    bar_rows = step * (3 if usual % (4 * step) and not usual % (3 * step) else 4)
    instruments, events = {}, []
    for _, _, pattern, number in rows:
        row = patterns[pattern][number] if number < len(patterns[pattern]) else []
        instruments.update({channel: instrument for channel, _, instrument in row if instrument})
        events.append([(instruments.get(channel, 0), note) for channel, note, _ in row])
    starts = [index for index, row in enumerate(rows) if index == 0 or row[1] != rows[index - 1][1] or row[3] < rows[index - 1][3]]
    window = 4 * bar_rows

    def is_audible(index):
        before, after = (Counter((row, *event) for row, at in enumerate(range(first, first + window)) if 0 <= at < len(events)
                                 for event in events[at]) for first in (index - window, index))
        same = 2 * sum((before & after).values()) / max(1, sum(before.values()) + sum(after.values()))
        counts = [Counter(instrument for _, instrument, _ in part.elements()) for part in (before, after)]
        return same < UNCHANGED or any(max(counts[0][key], counts[1][key]) >= NOTES_OF_INSTRUMENT and not (counts[0][key] and counts[1][key])
                                       for key in counts[0] | counts[1])

    bars = times[numbers % bar_rows == 0]
    return times[starts], np.array([index == 0 or is_audible(index) for index in starts]), np.median(np.diff(bars))


def has_phrases(starts, audible, bar):
    gaps = np.diff(starts[audible]) / bar / 4
    return len(gaps) >= 3 and np.mean(abs(gaps - np.round(gaps)) < 0.03) >= 0.75 and np.mean(np.diff(starts) > 0.9 * bar) > 0.75


def records(hemiola, path, options):
    output = subprocess.run([hemiola, "analyze", path, "--analyzer", "beat:phrases=true", "--select", "beat,phrase", "-o", "-", *options],
                            check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in output.splitlines()]
    return [line for line in lines if line["type"] == "phrase"], np.array([line["t"] for line in lines if line["type"] == "beat"])


def matches(found, expected, tolerance):
    """The number of found times that have an expected one of their own."""
    free = list(expected)
    for time in found:
        near = min(free, key=lambda other: abs(other - time), default=None)
        if near is not None and abs(near - time) <= tolerance:
            free.remove(near)
    return len(expected) - len(free)


def known_phrases(path):
    """The audio of a file, the times at which phrases begin, whether each can be heard, and the length of a bar; ValueError if unknown."""
    if Path(path).suffix == ".flac":
        times, states = zip(*json.loads(Path(path).with_suffix(".json").read_text())["bars"])
        starts, audible, place = [], [], 0
        for time, before, state in zip(times, (None, *states), states):
            place = place + 1 if state == before else 0
            if place % 4 == 0:
                starts.append(time)
                audible.append(place == 0)
        return read_audio(path), np.array(starts), np.array(audible), np.median(np.diff(times))
    audio, rows, patterns = play_module(path, LONGEST, block=256)
    starts, audible, bar = pattern_starts(rows, patterns)
    if len(audio) < SHORTEST * SAMPLE_RATE or not has_phrases(starts, audible, bar):
        raise ValueError(f"{path}: left out: the phrases are not known")
    return audio, starts, audible, bar


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hemiola")
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    modes = {"whole file": [], "live": ["--causal"]}
    sums, predictions, count = {mode: Counter() for mode in modes}, {mode: [] for mode in modes}, 0
    for path in options.paths:
        try:
            audio, starts, audible, bar = known_phrases(path)
        except ValueError as error:
            print(error)
            continue
        count += 1
        with tempfile.NamedTemporaryFile(suffix=".flac") as file:
            soundfile.write(file.name, audio * (0.5 / max(1e-9, abs(audio).max())), SAMPLE_RATE)
            for mode, arguments in modes.items():
                places, beats = records(options.hemiola, file.name, arguments)
                tolerance = 0.5 * bar + 0.05
                # Longer phrases consist of phrases of four bars.
                found = [place["t"] for place in places if place["bar"] % 4 == 1 and place["t"] > bar / 2]
                expected = starts[audible & (starts > bar / 2)]
                sums[mode].update(found=len(found), expected=len(expected), right=matches(found, expected, tolerance),
                                  at_pattern=matches(found, starts, tolerance))
                for place in places:
                    end = np.searchsorted(beats, place["t"] - 0.01) + 4 * place["bars_left"]
                    if end < len(beats):
                        predictions[mode].append((place["confidence"], np.any(abs(starts - beats[end]) <= tolerance)))
    for mode, total in sums.items():
        print(f"{mode}, {count} pieces: F {2 * total['right'] / max(1, total['found'] + total['expected']):.3f}, of {total['found']} phrases "
              f"{total['at_pattern'] / max(1, total['found']):.2f} begin with a pattern, of {total['expected']} audible patterns "
              f"{total['right'] / max(1, total['expected']):.2f} were found")
        table = np.array(predictions[mode], float).reshape(-1, 2)
        for low in np.arange(0, 1, 0.1):
            part = table[(table[:, 0] >= low) & (table[:, 0] < low + 0.1 + (low > 0.85))]
            if len(part):
                print(f"  confidence {low:.1f}–{low + 0.1:.1f}: {part[:, 1].mean():.2f} of {len(part)} came true")


if __name__ == "__main__":
    main()
