#!/usr/bin/env python3
"""Writes cases.json: beats and onsets with the scores of mir_eval 0.8.

    pip install mir_eval==0.8.2 && python3 make_cases.py > cases.json
"""
import json
import random
import warnings

import mir_eval
import numpy as np

warnings.filterwarnings("ignore")


def steady(generator, seconds, period, jitter):
    time, times = generator.uniform(0, period), []
    while time < seconds:
        times.append(round(time, 4))
        time += period * (1 + generator.gauss(0, jitter))
    return times


def distorted(generator, beats):
    """An estimate with typical errors of a beat tracker."""
    kind = generator.randrange(9)
    if kind == 0:
        beats = beats[::2]
    elif kind == 1:
        beats = beats[1::2]
    elif kind == 2:
        beats = sorted(beats + [(a + b) / 2 for a, b in zip(beats, beats[1:])])
    elif kind == 3:
        beats = [(a + b) / 2 for a, b in zip(beats, beats[1:])]
    elif kind == 4:
        middle = len(beats) // 2
        beats = beats[:middle] + [beat + 0.2 for beat in beats[middle:]]
    elif kind == 5:
        beats = [beat for beat in beats if generator.random() > 0.2]
    elif kind == 6:
        beats = sorted(beats + [generator.uniform(0, 30) for _ in range(10)])
    spread = generator.choice([0, 0.01, 0.03, 0.08])
    return sorted(round(max(0, beat + generator.gauss(0, spread)), 4) for beat in beats)


def scores(reference, estimate):
    beat = mir_eval.beat
    reference, estimate = (beat.trim_beats(np.array(times, dtype=float)) for times in (reference, estimate))
    levels = beat.continuity(reference, estimate)
    return {
        "f": beat.f_measure(reference, estimate), "cemgil": beat.cemgil(reference, estimate)[0],
        "cmlc": levels[0], "cmlt": levels[1], "amlc": levels[2], "amlt": levels[3],
    }


def onset_f(reference, estimate):
    if not reference or not estimate:
        return 0.0
    return mir_eval.onset.f_measure(np.array(reference), np.array(estimate), window=0.05)[0]


def main():
    generator = random.Random(1)
    cases = []
    for _ in range(120):
        reference = steady(generator, 30, generator.uniform(0.25, 1.2), generator.choice([0, 0.01, 0.05]))
        cases.append((reference, distorted(generator, reference)))
    cases += [([], []), ([6.0], []), ([], [6.0]), ([6.0], [6.0]), ([6.0, 6.5], [6.0]), ([6.0, 6.5], [6.0, 6.5]),
              ([6.0, 6.0, 7.0], [6.0, 6.5, 7.0]), ([1.0, 2.0, 3.0], [1.0, 2.0]), ([5.0, 6.0, 7.0], [4.999, 5.999, 6.999])]
    print(json.dumps([
        {"reference": reference, "estimate": estimate, "onset_f": onset_f(reference, estimate), **scores(reference, estimate)}
        for reference, estimate in cases
    ], default=float).replace("}, {", "},\n {"))


if __name__ == "__main__":
    main()
