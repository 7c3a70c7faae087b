"""Makes the reference vectors that Hemiola's analyzers are tested against.

Everything here is computed in float64, with numpy and librosa, by the definitions in the README beside this file, and
shares no code with Hemiola. Where numpy and librosa can both say what a number is, the script asserts that they agree;
where a number has a meaning that can be checked without either (a full-scale sine reads -3.01 dB), it asserts that too.
"""

import json
from pathlib import Path

import librosa
import numpy as np
import scipy
import soundfile

HERE = Path(__file__).parent
BATCH = 1024
SIZE = 2048

# Of 250 seeds those that leave the roll-off furthest from a tie between two bins, so that a single-precision FFT
# must find the very same bin; shape_of asserts it.
MONO_SEED = 169
STEREO_SEED = 11

# Every value is rounded to this many significant digits: far more than single precision carries, few enough to keep the
# file small and to hide the last bits, in which one CPU's sums differ from another's.
DIGITS = 9


# --- The inputs -------------------------------------------------------------------------------------------------------


def tone(rate, seconds, start, hertz, level, decay, harmonics=6):
    """A harmonic tone that starts at `start` seconds and falls by a factor e every `decay` seconds."""
    t = np.arange(round(rate * seconds)) / rate - start
    partials = sum(np.sin(2 * np.pi * hertz * h * t) / h for h in range(1, harmonics + 1))
    return np.where(t >= 0, level * np.exp(-np.maximum(t, 0) / decay) * partials, 0)


def make_mono():
    """1.5 s at 44.1 kHz: 64 whole batches and a last one of 614 frames.

    The sections begin and end inside batches, so that nothing comes out right by luck of alignment.
    """
    rate, seconds = 44100, 1.5
    x = np.zeros(round(rate * seconds))
    # RandomState, because numpy guarantees that its numbers do not change between versions.
    noise = np.random.RandomState(MONO_SEED).standard_normal(x.size)
    t = np.arange(x.size) / rate

    # Batches 0-13: tones that overlap and decay, the first after a short silence, so that batch 0 is a beginning.
    tones = slice(0, 14 * BATCH + 300)
    for start, hertz, level, decay in [(0.008, 220, 0.3, 0.12), (0.09, 329.63, 0.25, 0.1), (0.17, 1174.66, 0.2, 0.05)]:
        x[tones] += tone(rate, seconds, start, hertz, level, decay)[tones]

    # Batches 14-21: a stationary low sine, between two bins.
    low = slice(14 * BATCH + 300, 22 * BATCH + 100)
    x[low] = 0.7 * np.sin(2 * np.pi * 55 * t[low])

    # Batches 22-31: noise that falls by 9 dB a batch, from loud to below one step of 16 bits.
    for i in range(10):
        burst = slice((22 + i) * BATCH + 100, (23 + i) * BATCH + 100)
        x[burst] = 0.3 * 10 ** (-9 * i / 20) * noise[burst]

    # Batches 33-39 and most of those around them: digital silence (x is zero already).

    # Batches 40-51: transients. Two lone clicks, then kicks and hats over a quiet floor.
    x[40 * BATCH + 517] = 0.9
    x[42 * BATCH + 3] = -0.6
    for start, level in [(44 * BATCH + 200, 0.8), (48 * BATCH + 900, 0.4)]:
        kick = np.arange(52 * BATCH - start) / rate
        sweep = 50 * kick + 150 * 0.02 * (1 - np.exp(-kick / 0.02))
        x[start : 52 * BATCH] += level * np.sin(2 * np.pi * sweep) * np.exp(-kick / 0.05)
    for start in (46 * BATCH + 11, 50 * BATCH + 700):
        hat = np.arange(52 * BATCH - start)
        x[start : 52 * BATCH] += 0.3 * noise[start : 52 * BATCH] * np.exp(-hat / 400)
    x[44 * BATCH : 52 * BATCH] += 0.001 * noise[44 * BATCH : 52 * BATCH]

    # Batches 52-64: all of it together, to the very end, with one sample at negative full scale.
    end = slice(52 * BATCH, x.size)
    for hertz, level, decay in [(261.63, 0.12, 0.6), (392, 0.12, 0.4), (4186, 0.05, 0.2), (41.2, 0.2, 2)]:
        x[end] += tone(rate, seconds, 52 * BATCH / rate, hertz, level, decay)[end]
    x[end] += 0.02 * noise[end]
    x[58 * BATCH + 77] = -1.0

    # Read back as `value / 32768`, as every reader of 16-bit audio does: negative full scale is -1 exactly.
    stored = np.clip(np.round(x * 32768), -32768, 32767).astype(np.int16)
    soundfile.write(HERE / "input.wav", stored, rate, subtype="PCM_16")


def make_stereo():
    """0.5 s at 48 kHz in 32-bit float: 23 whole batches and a last one of 448 frames."""
    rate, seconds = 48000, 0.5
    left, right = np.zeros((2, round(rate * seconds)))
    noise = np.random.RandomState(STEREO_SEED).standard_normal((2, left.size))

    # Batches 0-7: only the left channel; the right one is digital silence.
    first = slice(0, 8 * BATCH)
    left[first] = (tone(rate, seconds, 0, 440, 0.3, 0.2) + 0.001 * noise[0])[first]

    # Batches 8-13: opposite channels, whose mean is digital silence although neither is silent.
    opposite = slice(8 * BATCH, 14 * BATCH)
    left[opposite] = (tone(rate, seconds, 0, 110, 0.2, 1) + 0.01 * noise[0])[opposite]
    right[opposite] = -left[opposite]

    # Batches 14-23: different channels, and a sample above full scale, which floating point can carry.
    last = slice(14 * BATCH, left.size)
    left[last] = (tone(rate, seconds, 14 * BATCH / rate, 659.26, 0.2, 0.1) + 0.002 * noise[0])[last]
    right[last] = (tone(rate, seconds, 16 * BATCH / rate, 987.77, 0.3, 0.2) + 0.02 * noise[1])[last]
    right[18 * BATCH + 600] = 1.25

    # scipy's writer, because libsndfile stamps the date into a float file.
    scipy.io.wavfile.write(HERE / "input-stereo.wav", rate, np.stack([left, right], axis=1).astype(np.float32))


# --- Definitions ------------------------------------------------------------------------------------------------------


def window_of(name, size):
    """A periodic window: one period of a sum of cosines."""
    coefficients = {
        "hann": [0.5, 0.5],
        "hamming": [0.54, 0.46],
        "blackman-harris": [0.35875, 0.48829, 0.14128, 0.01168],
        "rectangular": [1.0],
    }[name]
    phase = 2 * np.pi * np.arange(size) / size
    window = sum((-1) ** i * c * np.cos(i * phase) for i, c in enumerate(coefficients))
    scipy_name = {"blackman-harris": "blackmanharris", "rectangular": "boxcar"}.get(name, name)
    assert np.allclose(window, scipy.signal.get_window(scipy_name, size, fftbins=True), atol=1e-15)
    return window


def windowed(x, size, window):
    """One row per batch: the `size` samples that end where the batch ends, zeros where there is no audio, windowed."""
    batches = -(-x.size // BATCH)
    padded = np.concatenate([np.zeros(size), x, np.zeros(batches * BATCH - x.size)])
    ends = size + BATCH * np.arange(1, batches + 1)
    return np.stack([padded[end - size : end] for end in ends]) * window


def interior_twice(spectrum):
    """Doubles what stands for two bins of the two-sided spectrum: all but DC and Nyquist."""
    factors = np.full(spectrum.shape[-1], 2.0)
    factors[[0, -1]] = 1
    return spectrum * factors


def magnitudes_of(spectrum, window):
    """Amplitude-correct: a sine of amplitude A in the middle of a bin reads A."""
    return interior_twice(np.abs(spectrum)) / window.sum()


def power_of(spectrum, window):
    """Sums to the mean square of a stationary signal."""
    return interior_twice(np.abs(spectrum) ** 2) / (window.size * (window**2).sum())


def band_edges(scale, bands, minimum, maximum):
    if scale == "log":
        return np.geomspace(minimum, maximum, bands + 1)
    if scale == "linear":
        return np.linspace(minimum, maximum, bands + 1)
    return librosa.mel_frequencies(bands + 2, fmin=minimum, fmax=maximum, htk=scale == "mel-htk")


def band_weights(scale, edges, rate, size):
    """What part of each bin's power a band takes: a matrix of bands by bins."""
    if scale.startswith("mel"):
        weights = librosa.filters.mel(
            sr=rate,
            n_fft=size,
            n_mels=edges.size - 2,
            fmin=edges[0],
            fmax=edges[-1],
            htk=scale == "mel-htk",
            norm="slaney",
            dtype=np.float64,
        )
        assert (weights.max(axis=1) > 0).all(), "an empty mel band would test nothing"
        return weights
    # Bin k holds what lies within half a bin of its centre; DC and Nyquist have only the half inside the spectrum.
    centres = np.arange(size // 2 + 1)
    low = np.maximum(centres - 0.5, 0) * rate / size
    high = np.minimum(centres + 0.5, size / 2) * rate / size
    shared = np.minimum(edges[1:, None], high) - np.maximum(edges[:-1, None], low)
    return np.maximum(shared, 0) / (high - low)


def bands_of(power, scale, rate, bands=64):
    edges = band_edges(scale, bands, 20.0, min(20000.0, rate / 2))
    weights = band_weights(scale, edges, rate, SIZE)
    return {"scale": scale, "sample_rate": rate, "edges_hz": edges, "power": power @ weights.T}


# --- Vectors ----------------------------------------------------------------------------------------------------------


def levels_of(channels):
    """Per batch, over its real frames only: a last, partial batch is shorter, not diluted by zeros."""
    batches = [channels[i : i + BATCH] for i in range(0, len(channels), BATCH)]
    return {
        "rms": [np.sqrt(np.mean(b.mean(axis=1) ** 2)) for b in batches],
        "peak": [np.abs(b.mean(axis=1)).max() for b in batches],
        "channel_rms": np.array([np.sqrt(np.mean(b**2, axis=0)) for b in batches]),
        "channel_peak": np.array([np.abs(b).max(axis=0) for b in batches]),
    }


def check_framing(x, spectrum):
    """The window of batch n is librosa's centred frame n."""
    librosas = librosa.stft(
        x, n_fft=SIZE, hop_length=BATCH, window="hann", center=True, pad_mode="constant", dtype=np.complex128
    )
    # librosa has one more frame when the audio ends with a whole batch: there its window is centred on the end.
    assert np.allclose(librosas.T[: len(spectrum)], spectrum, rtol=0, atol=1e-10)


def shape_of(spectrum, rate):
    """Centroid, roll-off, flatness and MFCC, by librosa on its own, unnormalised |X|. Silence has no shape: null.

    The scale is nothing to centroid and roll-off, but flatness and MFCC clamp at 1e-10, which is not scale-free.
    """
    magnitude = np.abs(spectrum).T
    silent = ~magnitude.any(axis=0)
    settings = {"sr": rate, "n_fft": SIZE}
    features = {
        "centroid_hz": librosa.feature.spectral_centroid(S=magnitude, **settings)[0],
        "rolloff_hz": librosa.feature.spectral_rolloff(S=magnitude, roll_percent=0.85, **settings)[0],
        "flatness": librosa.feature.spectral_flatness(S=magnitude, power=2.0, amin=1e-10)[0],
    }

    shares = np.cumsum(magnitude[:, ~silent], axis=0) / magnitude[:, ~silent].sum(axis=0)
    assert np.abs(shares - 0.85).min() > 3e-5, "choose another seed: a roll-off is too close to call"

    # top_db=None: librosa's default depends on the maximum of the whole file, which is not available to a live analyzer.
    mel = librosa.feature.melspectrogram(S=magnitude**2, n_mels=128, fmin=0, fmax=rate / 2, dtype=np.float64, **settings)
    mel_db = librosa.power_to_db(mel, ref=1.0, amin=1e-10, top_db=None)
    mfcc = librosa.feature.mfcc(S=mel_db, n_mfcc=13, dct_type=2, norm="ortho")

    nulled = {name: [None if s else v for v, s in zip(values, silent)] for name, values in features.items()}
    return nulled | {"mfcc": mfcc.T}


def vectors_of(name, chosen, variants):
    """Everything about one input: wide arrays for the `chosen` batches only, `variants` being the other windows."""
    channels, rate = soundfile.read(HERE / name, dtype="float64", always_2d=True)
    x = channels.mean(axis=1)

    window = window_of("hann", SIZE)
    spectrum = np.fft.rfft(windowed(x, SIZE, window))
    check_framing(x, spectrum)
    magnitudes = magnitudes_of(spectrum, window)
    power = power_of(spectrum, window)

    def magnitudes_with(window_name, size, batches):
        window = window_of(window_name, size)
        values = magnitudes_of(np.fft.rfft(windowed(x, size, window)), window)
        return {"window": window_name, "size": size, "batches": batches, "values": values[batches]}

    return {
        "file": name,
        "sample_rate": rate,
        "channels": channels.shape[1],
        "frames": len(channels),
        "batches": len(spectrum),
        "levels": levels_of(channels),
        **shape_of(spectrum, rate),
        "flux": np.maximum(np.diff(magnitudes, axis=0, prepend=0), 0).sum(axis=1),
        "magnitudes": [magnitudes_with("hann", SIZE, chosen)] + [magnitudes_with(*v) for v in variants],
        "power": {"batches": chosen, "values": power[chosen]},
        "bands": [bands_of(power, scale, rate) for scale in ("log", "linear", "mel-slaney", "mel-htk")]
        # The same samples read at half the rate: the highest edge is then the Nyquist frequency.
        + [bands_of(power, "log", rate // 2)],
    }


# --- Sanity, storage --------------------------------------------------------------------------------------------------


def check_meaning():
    """What the numbers mean, on signals whose numbers are known."""
    rate = 44100
    t = np.arange(8 * BATCH) / rate
    decibels = lambda power: 10 * np.log10(power)
    for name in ("hann", "hamming", "blackman-harris", "rectangular"):
        window = window_of(name, SIZE)
        # A full-scale sine exactly on bin 400, and its frame 4, which is all audio.
        sine = np.sin(2 * np.pi * 400 / SIZE * rate * t)
        spectrum = np.fft.rfft(windowed(sine, SIZE, window))[4]
        assert abs(magnitudes_of(spectrum, window)[400] - 1) < 1e-9
        assert abs(power_of(spectrum, window).sum() - 0.5) < 1e-9

    window = window_of("hann", SIZE)
    for hertz in (1100, 5200, 10200):
        # Well inside a linear band, off the bins' centres: the band holds all of it.
        sine = np.sin(2 * np.pi * hertz * t)
        power = power_of(np.fft.rfft(windowed(sine, SIZE, window)), window)
        bands = bands_of(power, "linear", rate)["power"][4]
        assert abs(decibels(bands.max()) + 3.0103) < 0.01, (hertz, decibels(bands.max()))
    # The widest log bands, near the top, and a band's sum as the piecewise linear integral says it.
    found = bands_of(power, "log", rate)
    assert abs(decibels(found["power"][4].max()) + 3.0103) < 0.01
    knots = np.concatenate([[0], np.arange(SIZE // 2) + 0.5, [SIZE / 2]]) * rate / SIZE
    integral = np.interp(found["edges_hz"], knots, np.concatenate([[0], np.cumsum(power[4])]))
    assert np.allclose(np.diff(integral), found["power"][4], rtol=0, atol=1e-12)


def check_coverage(mono, stereo):
    """That the inputs hold what the tests rely on."""
    silent = lambda vectors: [n for n, value in enumerate(vectors["flatness"]) if value is None]
    assert silent(mono) == [34, 35, 36, 37, 38, 39]
    assert silent(stereo) == [9, 10, 11, 12, 13]
    assert max(mono["levels"]["peak"]) == 1
    assert stereo["levels"]["channel_peak"].max() == 1.25
    # The low sine is stationary there: the power's sum is its mean square.
    batches = mono["power"]["batches"]
    for n in (17, 20):
        assert abs(mono["power"]["values"][batches.index(n)].sum() / (0.7**2 / 2) - 1) < 1e-3


def text_of(value, indent=0):
    """JSON with one line per row of numbers, so that a difference can be read."""
    if isinstance(value, (dict, list, np.ndarray)) and len(value):
        inner = "\n" + " " * (indent + 1)
        if isinstance(value, dict):
            lines = [f"{json.dumps(k)}: {text_of(v, indent + 1)}" for k, v in value.items()]
            return "{" + inner + ("," + inner).join(lines) + "\n" + " " * indent + "}"
        if isinstance(value[0], (dict, list, np.ndarray)):
            return "[" + inner + ("," + inner).join(text_of(v, indent + 1) for v in value) + "\n" + " " * indent + "]"
        return "[" + ",".join(text_of(v) for v in value) + "]"
    if isinstance(value, (float, np.floating)):
        return json.dumps(float(f"{value:.{DIGITS}g}"), allow_nan=False)
    return json.dumps(value)


def main():
    check_meaning()
    make_mono()
    make_stereo()

    few = [3, 17, 27, 35, 46]
    mono = vectors_of(
        "input.wav",
        chosen=[0, 1, 3, 9, 14, 17, 20, 27, 35, 40, 46, 64],
        variants=[(name, SIZE, few) for name in ("hamming", "blackman-harris", "rectangular")]
        + [("hann", 512, [*few, 64]), ("hann", 4096, [0, *few, 64])],
    )
    stereo = vectors_of("input-stereo.wav", chosen=[3, 10, 18, 23], variants=[])
    check_coverage(mono, stereo)

    recipe = {module.__name__: module.__version__ for module in (librosa, np, scipy, soundfile)}
    vectors = {"recipe": recipe, "batch_frames": BATCH, "mono": mono, "stereo": stereo}
    (HERE / "vectors.json").write_text(text_of(vectors) + "\n")


if __name__ == "__main__":
    main()
