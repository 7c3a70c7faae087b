import numpy as np
import pytest

from beats import metrics

BEATS = np.arange(0.2, 30, 0.5)


def test_the_same_beats_score_1():
    assert metrics.f_measure(BEATS, BEATS) == metrics.cml_t(BEATS, BEATS) == metrics.aml_t(BEATS, BEATS) == 1


# Values of mir_eval 0.8.2.
@pytest.mark.parametrize(("estimate", "expected"), [
    (BEATS[::2], (2 / 3, 0.0, 1.0)),
    (BEATS + 0.25, (0.0, 0.0, 1.0)),
    (BEATS + 0.06, (1.0, 1.0, 1.0)),
    (BEATS + 0.08, (0.0, 1.0, 1.0)),
    (np.arange(0.2, 30, 0.25), (2 / 3, 0.0, 1.0)),
    (BEATS[5:5], (0.0, 0.0, 0.0)),
])
def test_scores_equal_those_of_mir_eval(estimate, expected):
    found = (metrics.f_measure(BEATS, estimate), metrics.cml_t(BEATS, estimate), metrics.aml_t(BEATS, estimate))
    assert np.allclose(found, expected, atol=0.02)


def test_random_beats_score_as_with_mir_eval():
    beat = pytest.importorskip("mir_eval.beat", reason="mir_eval is not installed")
    rng = np.random.default_rng(0)
    for _ in range(50):
        reference = np.cumsum(60 / rng.uniform(60, 180) * (1 + rng.normal(0, 0.03, 60)))
        estimate = np.sort(reference[rng.random(60) > 0.2] + rng.normal(0, 0.03))
        trimmed = beat.trim_beats(reference), beat.trim_beats(estimate)
        _, cml_t, _, aml_t = beat.continuity(*trimmed)
        assert np.allclose((metrics.f_measure(reference, estimate), metrics.cml_t(reference, estimate), metrics.aml_t(reference, estimate)),
                           (beat.f_measure(*trimmed), cml_t, aml_t))


def test_the_bootstrap_interval_contains_the_mean_and_excludes_0_for_a_clear_difference():
    mean, low, high = metrics.paired_bootstrap(np.random.default_rng(0).normal(0.1, 0.05, 50))
    assert 0 < low < mean < high < 0.2
