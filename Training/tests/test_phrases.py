import json

import numpy as np
import soundfile

from beats.features import SAMPLE_RATE
from beats.phrases import has_phrases, known_phrases, matches, pattern_starts

# Patterns of 64 rows, 0.12 s each: four bars of four beats of four rows.
TUNE = [[(0, 60 + row % 7, 1)] if row % 4 == 0 else [] for row in range(64)]
OTHER = [[(0, 48 + row % 5, 1)] if row % 4 == 0 else [] for row in range(64)]
DRUMS = [row + [(1, 40, 2)] if index % 8 == 0 else row for index, row in enumerate(TUNE)]


def score_of(order, patterns):
    return [(0.12 * (64 * place + row), place, pattern, row) for place, pattern in enumerate(order) for row in range(64)], patterns


def test_a_repeated_pattern_cannot_be_heard_and_another_tune_or_instrument_can():
    starts, audible, bar = pattern_starts(*score_of([0, 0, 1, 0, 2], {0: TUNE, 1: OTHER, 2: DRUMS}))
    assert np.allclose(starts, 7.68 * np.arange(5)) and abs(bar - 1.92) < 1e-9
    assert audible.tolist() == [True, False, True, True, True]


def test_modules_count_whose_audible_patterns_are_a_multiple_of_four_bars_apart():
    assert has_phrases(np.arange(0, 100, 8.0), np.ones(13, bool), 2.0)
    assert not has_phrases(np.arange(0, 100, 6.0), np.ones(17, bool), 2.0)


def test_each_expected_time_is_matched_once():
    assert matches([1.0, 1.1, 5.0], np.array([1.05, 9.0]), 0.5) == 1


def test_sections_of_a_rendered_track_begin_phrases_of_four_bars(tmp_path):
    states = ["groove"] * 8 + ["break"] * 5 + ["drop"] * 4
    soundfile.write(tmp_path / "000.flac", np.zeros(SAMPLE_RATE), SAMPLE_RATE)
    (tmp_path / "000.json").write_text(json.dumps({"bars": [(2.0 * bar, state) for bar, state in enumerate(states)]}))
    _, starts, audible, bar = known_phrases(tmp_path / "000.flac")
    assert starts.tolist() == [0, 8, 16, 24, 26] and audible.tolist() == [True, False, True, False, True] and bar == 2
