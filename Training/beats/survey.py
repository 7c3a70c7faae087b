"""Counts excerpts by tempo and by onsets per beat, without rendering them: `python -m beats.survey DATA FOLDER --count 600`.

Slow songs must be busy, and fast ones must exist with the same number of onsets per second; else the density alone tells the tempo.
"""
import argparse
from pathlib import Path

import numpy as np

from . import render, styles

TEMPI = (40, 55, 65, 75, 85, 95, 110, 130, 150, 170, 250)
# Upper limits of different onsets per beat.
DENSITIES = (1, 1.6, 2.2, 3, 4, 99)


def measure(arrangement):
    """The median tempo and the number of different onset times per beat; None without beats."""
    beats = arrangement.beats[arrangement.beats < styles.SECONDS]
    if len(beats) < 4:
        return None
    times = np.unique(np.round(arrangement.onsets[(arrangement.onsets >= beats[0]) & (arrangement.onsets < beats[-1])] / 0.03))
    return 60 / np.median(np.diff(beats)), len(times) / (len(beats) - 1)


def table(rows):
    counts = np.zeros((len(TEMPI) - 1, len(DENSITIES)), int)
    for tempo, density in rows:
        counts[np.clip(np.searchsorted(TEMPI, tempo, "right") - 1, 0, len(TEMPI) - 2), np.searchsorted(DENSITIES, density)] += 1
    lines = ["| BPM | " + " | ".join(f"≤ {limit}" for limit in DENSITIES[:-1]) + " | more | all |", "|---" * (len(DENSITIES) + 2) + "|"]
    lines += [f"| {low}–{high} | " + " | ".join(map(str, row)) + f" | {row.sum()} |" for low, high, row in zip(TEMPI, TEMPI[1:], counts)]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    library = styles.Library(render.unpack(options.data, options.folder), Path(options.folder) / "scores")
    groups = {"songs": [], "other styles": []}
    for index in range(options.count):
        rng = np.random.default_rng([options.seed, index])
        maker = render.maker_of(index)
        if maker is styles.beatless:
            continue
        _, arrangement = maker(rng, library)
        measured = measure(arrangement)
        if measured:
            groups["songs" if maker is styles.song else "other styles"].append(measured)
    for name, rows in groups.items():
        print(f"{name}, onsets per beat\n\n{table(rows)}\n")


if __name__ == "__main__":
    main()
