"""Scores of beat times, as mir_eval defines them: F-measure (±70 ms), CMLt and AMLt; events before 5 s are left out."""
import numpy as np

WINDOW = 0.07
TOLERANCE = 0.175
SKIPPED_SECONDS = 5.0


def trim(times, skipped=SKIPPED_SECONDS):
    times = np.asarray(times, float)
    return times[times >= skipped]


def matches(reference, estimate, window=WINDOW):
    """The number of pairs of a maximal one-to-one assignment within the window: both are sorted, so that the first fit is best."""
    i = j = count = 0
    while i < len(reference) and j < len(estimate):
        difference = estimate[j] - reference[i]
        if abs(difference) <= window:
            i, j, count = i + 1, j + 1, count + 1
        elif difference < 0:
            j += 1
        else:
            i += 1
    return count


def f_measure(reference, estimate, window=WINDOW, skipped=SKIPPED_SECONDS):
    reference, estimate = trim(reference, skipped), trim(estimate, skipped)
    if not len(reference) and not len(estimate):
        return 1.0
    total = len(reference) + len(estimate)
    return 2 * matches(reference, estimate, window) / total


def _continuous_share(reference, estimate):
    """The share of beats that are correct in phase and interval."""
    if len(reference) < 2 or len(estimate) < 2:
        return 0.0
    used, correct = np.zeros(len(reference), bool), 0
    for index, time in enumerate(estimate):
        nearest = int(abs(reference - time).argmin())
        if used[nearest]:
            continue
        # The intervals before the beat; at the first beats those after it.
        step = 1 if index == 0 or nearest == 0 else -1
        before = nearest + (step if 0 <= nearest + step < len(reference) else -step)
        interval = abs(reference[before] - reference[nearest])
        estimated = abs(estimate[index + (step if 0 <= index + step < len(estimate) else -step)] - time)
        if abs(time - reference[nearest]) < TOLERANCE * interval and abs(1 - estimated / interval) < TOLERANCE:
            used[nearest] = True
            correct += 1
    return correct / max(len(reference), len(estimate))


def cml_t(reference, estimate, skipped=SKIPPED_SECONDS):
    return _continuous_share(trim(reference, skipped), trim(estimate, skipped))


def aml_t(reference, estimate, skipped=SKIPPED_SECONDS):
    """The best CMLt over the reference, its off-beats, twice its tempo, and half of it from the first or the second beat."""
    reference, estimate = trim(reference, skipped), trim(estimate, skipped)
    if len(reference) < 2:
        return 0.0
    double = np.interp(np.arange(2 * len(reference) - 1) / 2, np.arange(len(reference)), reference)
    return max(_continuous_share(variant, estimate) for variant in (reference, double[1::2], double, reference[::2], reference[1::2]))


def paired_bootstrap(differences, samples=10_000, seed=0):
    """The mean of paired differences and its 95 % interval."""
    differences = np.asarray(differences, float)
    chosen = np.random.default_rng(seed).integers(0, len(differences), (samples, len(differences)))
    low, high = np.quantile(differences[chosen].mean(axis=1), [0.025, 0.975])
    return float(differences.mean()), float(low), float(high)
