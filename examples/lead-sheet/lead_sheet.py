"""Prints the chords of a piece bar by bar: lead_sheet.py RECORDS, or RECORDS on standard input.

The records are those of `hemiola analyze FILE --analyzer beat --analyzer musical-key --analyzer chords --analyzer structure`.
"""

import json
import statistics
import sys

NAMES = {"maj": "", "min": "m", "7": "7", "min7": "m7", "maj7": "maj7"}
BARS_PER_LINE = 4


def read(lines):
    """The records by type."""
    records = {}
    for line in lines:
        record = json.loads(line)
        records.setdefault(record["type"], []).append(record)
    return records


def chord_name(record):
    """`Am7` for the chord A:min7, and `N.C.` for no chord."""
    root, _, quality = record["label"].partition(":")
    return "N.C." if root == "N" else root + NAMES[quality]


def chord_at(chords, start, end):
    """The chord that sounds longest between two times."""
    def overlap(chord):
        return min(end, chord["t"] + chord["duration_s"]) - max(start, chord["t"])

    longest = max(chords, key=overlap, default=None)
    return chord_name(longest) if longest and overlap(longest) > 0 else "N.C."


def bars(beats):
    """Lists of beat times, one for each bar. The first one is an upbeat if it does not begin with beat 1."""
    result = []
    for beat in beats:
        if not result or beat["position"] == 1:
            result.append([])
        result[-1].append(beat["t"])
    return result


def print_sheet(records, out):
    key = max(records.get("musical_key", []), key=lambda record: record["confidence"], default=None)
    beats = [beat for beat in records.get("beat", []) if beat["position"] is not None]
    if not beats:
        sys.exit("lead_sheet: no bars were found: is this music with a beat?")
    source = records["header"][0]["source"]
    title = source.get("tags", {}).get("title", source["name"])
    tempo = statistics.median(beat["bpm"] for beat in beats)
    print(title, f"key: {key['label'] if key else 'unknown'}", f"tempo: {tempo:.0f}", sep="   ", file=out)

    segments = records.get("segment", [])
    chords = records.get("chord", [])
    sheet = bars(beats)
    ends = [bar[0] for bar in sheet[1:]] + [records["end"][0]["t"]]
    count, previous = 0, None
    for bar, end in zip(sheet, ends):
        # A bar belongs to the segment in which its middle lies.
        middle = (bar[0] + end) / 2
        segment = max((segment for segment in segments if segment["t"] <= middle), key=lambda segment: segment["t"], default=None)
        if segment is not previous:
            print("|\n" if count else "", f"[{segment['label']}]", sep="\n", file=out)
            count, previous = 0, segment
        elif count == BARS_PER_LINE:
            print("|", file=out)
            count = 0
        cells = []
        for start, stop in zip(bar, [*bar[1:], end]):
            name = chord_at(chords, start, stop)
            cells.append("." if cells and name == current else name)
            current = name
        print("| " + " ".join(cells).ljust(18), end="", file=out)
        count += 1
    print("|", file=out)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    with open(sys.argv[1]) if len(sys.argv) == 2 else sys.stdin as lines:
        print_sheet(read(lines), sys.stdout)
