"""Augmentation of band amplitudes (frames, bands): each function takes a random generator and returns new amplitudes."""
import functools

import numpy as np
from scipy.ndimage import uniform_filter1d
from scipy.signal import lfilter

from .features import BANDS, BANDS_PER_OCTAVE, CENTRES, FRAME_SECONDS, SAMPLE_RATE, WIDTHS, band_amplitudes

# Amplitudes of noise by frequency: power ∝ 1 / f ^ exponent.
WHITE, PINK, BROWN = 0.0, 1.0, 2.0
NOISE_SECONDS = 60


def _decibels(values):
    return np.float32(10) ** np.asarray(values / 20, np.float32)


def _level(amplitudes):
    return float(np.sqrt(np.square(amplitudes).mean()) + 1e-9)


def _power(amplitudes):
    """The mean power of the sound: an amplitude is the mean over the bins of its band."""
    return float((np.square(amplitudes) @ WIDTHS).mean() + 1e-18)


@functools.cache
def _white_noise():
    """Band amplitudes of white noise: neighbouring frames overlap and wide bands are averages, so they are not independent."""
    audio = np.random.default_rng(0).normal(0, 0.1, NOISE_SECONDS * SAMPLE_RATE)
    return band_amplitudes(audio.astype(np.float32))


def noise(rng, frames, exponent):
    """Amplitudes of noise whose power falls with the frequency to the power of `exponent`."""
    white = _white_noise()
    first = int(rng.integers(len(white)))
    return np.take(white, np.arange(first, first + frames), axis=0, mode="wrap") * (CENTRES / CENTRES[0]).astype(np.float32) ** (-exponent / 2)


def mix(x, other, decibels):
    """Adds another sound, whose power is `decibels` below that of x."""
    return np.hypot(x, other * np.float32(np.sqrt(_power(x) / _power(other)) * 10 ** (-decibels / 20)))


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
    """Noise between white and brown, 0 to 30 dB below the sound; sometimes its level changes."""
    sound = noise(rng, len(x), rng.choice([WHITE, PINK, BROWN, rng.uniform(WHITE, BROWN)]))
    if rng.random() < 0.2:
        points = np.linspace(0, len(x), 6)
        sound = sound * _decibels(np.interp(np.arange(len(x)), points, rng.normal(0, 5, 6)))[:, None]
    return mix(x, sound, rng.uniform(0, 30))


def add_voice(rng, x):
    """A voice-like masker: harmonics of notes with vibrato and glides that do not follow the beats, through two formants."""
    count = int(len(x) * FRAME_SECONDS / 0.1) + 2
    lengths = np.cumsum(rng.gamma(2, rng.uniform(0.06, 0.3), count)) / FRAME_SECONDS
    starts = np.concatenate([[0], lengths[lengths < len(x)]]).astype(int)
    place = np.searchsorted(starts, np.arange(len(x)), "right") - 1
    notes = rng.uniform(45, 70) + np.round(rng.normal(0, 4, len(starts)))
    glide = rng.uniform(2, 15)
    pitch = lfilter([1 / glide], [1, 1 / glide - 1], notes[place] - notes[0]) + notes[0]
    time = np.arange(len(x)) * FRAME_SECONDS
    pitch += rng.uniform(0, 0.8) * np.sin(2 * np.pi * rng.uniform(4.5, 7) * time)
    hertz = 440 * 2 ** ((pitch - 69) / 12)
    since = time - starts[place] * FRAME_SECONDS
    envelope = np.minimum(1, since / rng.uniform(0.01, 0.12)) * np.exp(-since / rng.uniform(0.2, 2)) * (rng.random(len(starts)) < 0.85)[place]
    sound = np.zeros_like(x)
    formants = rng.uniform([300, 900], [900, 2800], (len(starts), 2))[place]
    for harmonic in range(1, 25):
        partial = harmonic * hertz
        bands = np.clip(np.searchsorted(CENTRES, partial), 0, BANDS - 1)
        gain = (1 / (1 + np.square((partial[:, None] - formants) / 150))).sum(axis=1) + 0.05
        audible = partial < CENTRES[-1]
        sound[np.arange(len(x)), bands] += (envelope * gain / harmonic ** 0.5 / WIDTHS[bands] * audible).astype(np.float32)
    return mix(x, sound, rng.uniform(-6, 15)) if sound.max() > 0 else x


def soften(rng, x):
    """Weak attacks: amplitudes rise with a time constant of up to 40 ms and fall unchanged."""
    share = np.float32(1 - np.exp(-FRAME_SECONDS / rng.uniform(0.005, 0.04)))
    result, level = np.empty_like(x), x[0]
    for frame, value in enumerate(x):
        level = np.minimum(value, level + share * np.maximum(value - level, 0))
        result[frame] = level
    return result


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
CHAIN = ((roll, 0.4), (soften, 0.15), (add_voice, 0.15), (saturate, 0.2), (equalize, 0.7), (add_tails, 0.3), (compress, 0.4),
         (band_limit, 0.2), (add_noise, 0.45), (mask_bands, 0.15))


def random_chain(rng, x, speech=None):
    """A random choice of the functions; sometimes speech, given as amplitudes of at least as many frames, is mixed in."""
    for function, probability in CHAIN:
        if rng.random() < probability and _level(x) > 1e-7:
            x = function(rng, x)
    if speech is not None:
        first = int(rng.integers(0, max(1, len(speech) - len(x))))
        voice = np.resize(speech[first:], x.shape)
        x = mix(x, voice, rng.uniform(-6, 15))
    return (x * 10 ** (rng.uniform(-30, 6) / 20)).astype(np.float32)
