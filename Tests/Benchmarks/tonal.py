#!/usr/bin/env python3
"""Measures the analyzers of harmony, melody and form against aubiotrack on the same file: CPU time of all together and of each alone, and
the peak memory.

    tonal.py HEMIOLA [--rounds N] [--minutes N] [--file WAV]

CPU figures are medians of ratios of runs in pairs. Exit status 1 if a figure exceeds its limit, or an analyzer or aubiotrack is missing.
Requires sox and aubiotrack (Debian: aubio-tools).
"""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from corpus import MUSIC, Report, peak_memory, run

ANALYZERS = ["cqt", "chroma", "musical-key", "chords", "pitch", "structure"]
# All together, against aubiotrack, which finds beats; and the peak memory in MB.
CPU_LIMIT = 1.5
MEMORY_LIMIT = 45


def available(hemiola):
    """The analyzers that the program has."""
    names = subprocess.run([hemiola, "plugins", "--json"], check=True, capture_output=True, text=True).stdout
    return [name for name in ANALYZERS if f'"id":"{name}"' in names.replace('": "', '":"')]


def command(hemiola, path, analyzers):
    options = [word for name in analyzers for word in ("--analyzer", name)]
    return [hemiola, "analyze", "--quiet", "--causal", *options, "--sink", "json-lines:/dev/null", str(path)]


def ratio(one, other, rounds):
    """The median of one / other, run in pairs, and the median of other in seconds."""
    pairs = [(run(one)[1], run(other)[1]) for _ in range(rounds)]
    return statistics.median(first / second for first, second in pairs), statistics.median(second for _, second in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hemiola")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--file", help="a WAV file instead of the repeated minuet")
    options = parser.parse_args()
    hemiola = str(pathlib.Path(options.hemiola).resolve())
    names = available(hemiola)
    missing = [name for name in ANALYZERS if name not in names]
    if not shutil.which("aubiotrack"):
        sys.exit("tonal: aubiotrack: command not found; install it: apt install aubio-tools")
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        path = options.file
        if not path:
            path = pathlib.Path(folder) / "music.wav"
            repeats = round(options.minutes * 60 / 30.14)
            subprocess.run(["sox", MUSIC, path, "repeat", str(repeats), "trim", "0", str(options.minutes * 60)], check=True)
        aubio = ["aubiotrack", "-i", str(path)]
        value, seconds = ratio(command(hemiola, path, names), aubio, options.rounds)
        report.add(f"CPU time of {', '.join(names)}, against aubiotrack", value, CPU_LIMIT, "x")
        print(f"aubiotrack: {seconds:.2f} s")
        for name in names:
            value, _ = ratio(command(hemiola, path, [name]), aubio, options.rounds)
            report.add(f"CPU time of {name} alone, against aubiotrack", value, CPU_LIMIT, "x")
        report.add("peak memory, all together", peak_memory(command(hemiola, path, names)), MEMORY_LIMIT, "MB")
    for name in missing:
        print(f"{name}: the program has no such analyzer", file=sys.stderr)
    return min(report.failures + len(missing), 1)


if __name__ == "__main__":
    sys.exit(main())
