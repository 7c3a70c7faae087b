"""The network's input, defined in FEATURES.md: the Swift implementation computes the same values.

Arrays of band amplitudes have the shape (frames, bands). Frame k is centred at sample k · HOP.
"""
import numpy as np
from scipy.fft import rfft

SAMPLE_RATE = 44_100
HOP = 441
SIZE = 2048
FRAME_SECONDS = HOP / SAMPLE_RATE
BANDS_PER_OCTAVE = 12
LOWEST, HIGHEST = 30.0, 10_400.0
# Factor of the compression ln(1 + COMPRESSION · amplitude / peak).
COMPRESSION = 100.0
# Time constants of the decaying maxima, in seconds: of the band amplitudes, and of the onset strength.
PEAK_SECONDS = 5.0
ONSET_SECONDS = 15.0
# Lower limit of the peak: −90 dBFS. Lower limit of the onset strength's maximum, in nats.
SILENCE = 3e-5
LEAST_ONSET = 0.2
# Distance of the frames whose difference is taken.
LAG = 2
# The largest value of the onset activation: one certain frame must not outvote all others in the HMM.
HIGHEST_ONSET = 0.95

# Stored amplitudes: one byte, DECIBELS_PER_STEP above LOWEST_DECIBELS; 0 is silence.
DECIBELS_PER_STEP = 0.4
LOWEST_DECIBELS = -100.0


def filter_bank():
    """The weights of the triangular bands, (bins, bands). A sine of amplitude 1 at a band's centre has the amplitude of the
    triangle's peak divided by its sum."""
    count = int(np.floor(np.log2(HIGHEST / LOWEST) * BANDS_PER_OCTAVE))
    hertz = LOWEST * 2 ** (np.arange(count + 1) / BANDS_PER_OCTAVE)
    edges = np.unique(np.floor(hertz * SIZE / SAMPLE_RATE + 0.5).astype(int))
    bank = np.zeros((SIZE // 2 + 1, len(edges) - 2), np.float32)
    for band, (low, centre, high) in enumerate(zip(edges, edges[1:], edges[2:])):
        bins = np.arange(low, high + 1)
        shares = np.where(bins < centre, (bins - low) / (centre - low), (high - bins) / (high - centre))
        bank[low:high + 1, band] = shares * 4 / (SIZE * shares.sum())
    return bank


BANK = filter_bank()
BANDS = BANK.shape[1]
# The centre of each band in hertz, and its width in bins.
CENTRES = BANK.argmax(axis=0) * (SAMPLE_RATE / SIZE)
WIDTHS = BANK.sum(axis=0) / BANK.max(axis=0)
WINDOW = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(SIZE) / SIZE)).astype(np.float32)


def band_amplitudes(audio, hop=HOP):
    """Mono audio at 44.1 kHz to band amplitudes; the frames are `hop` samples apart, which may be fractional."""
    count = int(len(audio) / hop)
    starts = np.floor(np.arange(count) * hop + 0.5).astype(int)
    padded = np.concatenate([np.zeros(SIZE // 2, np.float32), audio.astype(np.float32), np.zeros(SIZE, np.float32)])
    result = np.empty((count, BANDS), np.float32)
    for first in range(0, count, 512):
        rows = starts[first:first + 512]
        frames = np.lib.stride_tricks.sliding_window_view(padded, SIZE)[rows] * WINDOW
        result[first:first + 512] = np.abs(rfft(frames)).astype(np.float32) @ BANK
    return result


def to_bytes(amplitudes):
    decibels = 20 * np.log10(np.maximum(amplitudes, 1e-9))
    return np.clip(np.round((decibels - LOWEST_DECIBELS) / DECIBELS_PER_STEP), 0, 255).astype(np.uint8)


_AMPLITUDES = (10 ** ((np.arange(256) * DECIBELS_PER_STEP + LOWEST_DECIBELS) / 20)).astype(np.float32)
_AMPLITUDES[0] = 0


def from_bytes(steps):
    return _AMPLITUDES[steps]


def decaying_maximum(values, seconds, least):
    """m[k] = max(values[k], m[k − 1] · exp(−frame / seconds)), at least `least`."""
    slope = np.arange(len(values)) * (FRAME_SECONDS / seconds)
    logs = np.log(np.maximum(values, 1e-12)) + slope
    return np.maximum(np.exp(np.maximum.accumulate(logs) - slope), least).astype(np.float32)


def lagged(rows):
    """The rows LAG frames earlier; the first row stands for those before the start."""
    return np.concatenate([np.repeat(rows[:1], LAG, axis=0), rows[:-LAG]])[:len(rows)]


def network_input(amplitudes):
    """Band amplitudes to (levels and increases: (2, frames, bands), onset activation: (frames,))."""
    peak = decaying_maximum(amplitudes.max(axis=1), PEAK_SECONDS, SILENCE)
    levels = np.log1p(amplitudes * (COMPRESSION / peak)[:, None])
    before = lagged(levels)
    increases = np.maximum(levels - before, 0)
    highest = before.copy()
    highest[:, 1:] = np.maximum(highest[:, 1:], before[:, :-1])
    highest[:, :-1] = np.maximum(highest[:, :-1], before[:, 1:])
    strength = np.maximum(levels - highest, 0).mean(axis=1)
    onsets = HIGHEST_ONSET * strength / decaying_maximum(strength, ONSET_SECONDS, LEAST_ONSET)
    return np.stack([levels, increases]).astype(np.float32), onsets.astype(np.float32)
