"""Augmentation of band amplitudes (frames, bands): each function takes a random generator and returns new amplitudes."""
import numpy as np
from scipy.ndimage import uniform_filter1d
from scipy.signal import lfilter

from .features import BANDS, BANDS_PER_OCTAVE, FRAME_SECONDS


def _decibels(values):
    return np.float32(10) ** np.asarray(values / 20, np.float32)


def _level(amplitudes):
    return float(np.sqrt(np.square(amplitudes).mean()) + 1e-9)


def roll(rng, x):
    shift = int(rng.integers(-2, 3))
    return x[:, np.clip(np.arange(BANDS) - shift, 0, BANDS - 1)]


def equalize(rng, x):
    points = np.sort(rng.uniform(0, BANDS, 7))
    return x * _decibels(np.interp(np.arange(BANDS), points, rng.normal(0, 6, 7)))


def band_limit(rng, x):
    slope, corner = rng.uniform(6, 24) / BANDS_PER_OCTAVE, rng.uniform(0.1, 0.75) * BANDS
    above = np.arange(BANDS) - corner
    return x * _decibels(-slope * np.maximum(above if rng.random() < 0.6 else -above, 0))


def add_noise(rng, x):
    tilt = np.interp(np.arange(BANDS), [0, BANDS], [0, rng.uniform(-30, 20)])
    sound = rng.rayleigh(1, x.shape).astype(np.float32) * _decibels(tilt)
    return np.hypot(x, sound * (_level(x) / _level(sound)) * _decibels(-rng.uniform(6, 35)))


def add_tails(rng, x):
    """A diffuse tail: the exponentially decaying average of the power."""
    pole = np.exp(-13.8 * FRAME_SECONDS / rng.uniform(0.15, 2.0))
    tail = lfilter([1 - pole], [1, -pole], np.square(x, dtype=np.float32), axis=0)
    delay = int(rng.integers(0, 5))
    tail = np.concatenate([np.zeros((delay, BANDS)), tail[:len(x) - delay]])
    return np.sqrt(np.square(x) + rng.uniform(0.05, 1.0) * tail).astype(np.float32)


def compress(rng, x):
    """A compressor in one band or three."""
    edges = [0, BANDS] if rng.random() < 0.5 else [0, int(rng.integers(12, 26)), int(rng.integers(38, 56)), BANDS]
    result = x.copy()
    for low, high in zip(edges, edges[1:]):
        level = np.sqrt(np.square(x[:, low:high]).mean(axis=1) + 1e-12)
        level = uniform_filter1d(level, int(rng.integers(1, 12)), origin=0)
        over = np.maximum(level / (np.quantile(level, 0.9) * 10 ** (-rng.uniform(3, 24) / 20) + 1e-9), 1)
        result[:, low:high] *= (over ** -rng.uniform(0.3, 0.9))[:, None].astype(np.float32)
    return result


def saturate(rng, x):
    """Limits the level and adds harmonics an octave and a twelfth above, more in loud frames."""
    level = np.sqrt(np.square(x).mean(axis=1))
    loud = np.minimum(level / (np.quantile(level, 0.9) + 1e-9), 2)[:, None]
    result = x / (1 + rng.uniform(0, 1.5) * loud)
    for shift in (12, 19):
        result[:, shift:] += (rng.uniform(0, 0.3) * loud * x[:, :-shift])
    return result.astype(np.float32)


def mask_bands(rng, x):
    first, width = int(rng.integers(0, BANDS - 4)), int(rng.integers(3, 16))
    x = x.copy()
    x[:, first:first + width] *= rng.choice([0.0, 0.03])
    return x


# Each function and its probability.
CHAIN = ((roll, 0.4), (saturate, 0.2), (equalize, 0.7), (add_tails, 0.3), (compress, 0.4), (band_limit, 0.2), (add_noise, 0.3),
         (mask_bands, 0.15))


def random_chain(rng, x, speech=None):
    """A random choice of the functions; sometimes speech, given as amplitudes of at least as many frames, is mixed in."""
    for function, probability in CHAIN:
        if rng.random() < probability and _level(x) > 1e-7:
            x = function(rng, x)
    if speech is not None:
        first = int(rng.integers(0, max(1, len(speech) - len(x))))
        voice = np.resize(speech[first:], x.shape)
        x = np.hypot(x, voice * (_level(x) / _level(voice)) * 10 ** (rng.uniform(-15, 6) / 20))
    return (x * 10 ** (rng.uniform(-30, 6) / 20)).astype(np.float32)
