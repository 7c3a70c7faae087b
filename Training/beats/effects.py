"""Effects on mono audio at 44.1 kHz, each with random settings."""
import subprocess

import numpy as np
from scipy.ndimage import maximum_filter1d, uniform_filter1d
from scipy.signal import butter, fftconvolve, sosfilt

from .features import SAMPLE_RATE


def room(rng, audio):
    """Early reflections and an exponentially decaying tail whose highs decay faster."""
    decay, length = rng.uniform(0.1, 1.6), int(1.2 * SAMPLE_RATE)
    time = np.arange(length) / SAMPLE_RATE
    tail = rng.normal(0, 1, length) * np.exp(-6.9 * time / decay)
    tail = sosfilt(butter(1, rng.uniform(1500, 9000), fs=SAMPLE_RATE, output="sos"), tail)
    for delay in rng.uniform(0.003, 0.05, rng.integers(3, 12)):
        tail[int(delay * SAMPLE_RATE)] += rng.uniform(-8, 8)
    tail[:int(rng.uniform(0, 0.02) * SAMPLE_RATE)] = 0
    wet = fftconvolve(audio, tail)[:len(audio)]
    return audio + wet * rng.uniform(0.05, 0.7) * (audio.std() + 1e-9) / (wet.std() + 1e-9)


def equalizer(rng, audio):
    """Random gains at 6 frequencies, interpolated over the logarithm of the frequency."""
    spectrum = np.fft.rfft(audio)
    hertz = np.fft.rfftfreq(len(audio), 1 / SAMPLE_RATE)
    points = np.log2([40, 150, 500, 1500, 5000, 14_000])
    gains = np.interp(np.log2(np.maximum(hertz, 20)), points, rng.normal(0, 5, 6))
    return np.fft.irfft(spectrum * 10 ** (gains / 20), len(audio))


def band_limit(rng, audio):
    if rng.random() < 0.5:
        return sosfilt(butter(2, rng.uniform(2500, 9000), fs=SAMPLE_RATE, output="sos"), audio)
    return sosfilt(butter(2, rng.uniform(80, 400), "highpass", fs=SAMPLE_RATE, output="sos"), audio)


def drive(rng, audio):
    """Saturation of the waveform."""
    gain = 10 ** (rng.uniform(0, 20) / 20) / (abs(audio).max() + 1e-9)
    return np.tanh(audio * gain) / gain


def compress(rng, audio):
    """A compressor with attack, release and ratio, in one band or three."""
    bands = [audio]
    if rng.random() < 0.5:
        low = sosfilt(butter(2, 200, fs=SAMPLE_RATE, output="sos"), audio)
        high = sosfilt(butter(2, 3000, "highpass", fs=SAMPLE_RATE, output="sos"), audio)
        bands = [low, audio - low - high, high]
    result = 0
    for band in bands:
        step = 64
        power = np.square(band[:len(band) // step * step]).reshape(-1, step).mean(axis=1)
        level = np.sqrt(uniform_filter1d(power, int(rng.integers(3, 60))) + 1e-12)
        level = maximum_filter1d(level, int(rng.integers(2, 30)))
        threshold = np.quantile(level, 0.9) * 10 ** (-rng.uniform(6, 24) / 20) + 1e-9
        gain = np.minimum(1, level / threshold) / np.maximum(level / threshold, 1e-9)
        gain = gain ** rng.uniform(0.3, 0.9)
        result = result + band * np.interp(np.arange(len(band)), np.arange(len(gain)) * step, gain)
    return result


def noise(rng, audio):
    """Noise with a spectral slope of 0 to −6 dB per octave, 0 to 30 dB below the signal."""
    spectrum = np.fft.rfft(rng.normal(0, 1, len(audio)))
    spectrum /= np.maximum(np.arange(len(spectrum)), 20) ** rng.uniform(0, 1)
    added = np.fft.irfft(spectrum, len(audio))
    return audio + added / (added.std() + 1e-9) * audio.std() * 10 ** (-rng.uniform(0, 30) / 20)


def codec(rng, audio):
    """Opus or MP3 at a low bit rate and back, through ffmpeg."""
    kind, rate = [("libopus", 48), ("libopus", 32), ("libmp3lame", 64), ("libmp3lame", 96)][rng.integers(4)]
    container = "ogg" if kind == "libopus" else "mp3"
    peak = abs(audio).max() + 1e-9
    command = ["ffmpeg", "-v", "error", "-threads", "1"]
    raw = ["-f", "f32le", "-ar", str(SAMPLE_RATE), "-ac", "1"]
    coded = subprocess.run([*command, *raw, "-i", "-", "-c:a", kind, "-b:a", f"{rate}k", "-f", container, "-"],
                           input=(audio / peak * 0.9).astype("<f4").tobytes(), capture_output=True, check=True).stdout
    result = subprocess.run([*command, "-i", "-", *raw, "-"], input=coded, capture_output=True, check=True).stdout
    decoded = np.frombuffer(result, "<f4")
    # Decoders that do not remove the encoder's delay are aligned by cross-correlation.
    limit = 4096
    part = min(len(audio), len(decoded), 8 * SAMPLE_RATE)
    correlation = fftconvolve(decoded[:part], audio[:part][::-1])[part - 1 - limit:part + limit]
    lag = int(correlation.argmax()) - limit
    decoded = decoded[lag:] if lag > 0 else np.concatenate([np.zeros(-lag, np.float32), decoded])
    return np.pad(decoded, (0, max(0, len(audio) - len(decoded))))[:len(audio)] * peak / 0.9


# Each effect and its probability.
CHAIN = ((drive, 0.2), (equalizer, 0.6), (room, 0.5), (compress, 0.35), (band_limit, 0.15), (noise, 0.3), (codec, 0.12))


def random_chain(rng, audio):
    """A random choice of the effects, then a gain of −30 to 0 dB of full scale."""
    for effect, probability in CHAIN:
        if rng.random() < probability and audio.std() > 1e-6:
            audio = effect(rng, audio)
    peak = abs(audio).max()
    return audio * (10 ** (-rng.uniform(0, 30) / 20) / peak) if peak > 1e-6 else audio
