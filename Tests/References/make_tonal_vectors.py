"""Makes the reference vectors of the analyzers of harmony and melody: tonal.json.

Everything is computed by the definitions in the README beside this file, with numpy, scipy, librosa, mir_eval and Essentia, and shares
no code with Hemiola. Where two of them can compute the same number, the script asserts that they agree.
"""

import json
import warnings
from pathlib import Path

import librosa
import mir_eval
import numpy as np
import scipy

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import essentia
    import essentia.standard

# librosa computes low octaves from signals that are shorter than their transform.
warnings.filterwarnings("ignore", message="n_fft=.* is too large")

HERE = Path(__file__).parent
RATE = 44_100


def sines(partials, seconds, rate=RATE):
    """A sum of sines, each a pair of hertz and amplitude, with phase 0."""
    time = np.arange(int(seconds * rate)) / rate
    return sum(amplitude * np.sin(2 * np.pi * hertz * time) for hertz, amplitude in partials)


def rounded(values, digits):
    return [round(float(value), digits) for value in values]


# --- Constant-Q transform and chroma ----------------------------------------------------------------------------------


def constant_q():
    """librosa's magnitudes in dB in the middle of a sum of sines; a full-scale sine reads 0."""
    lowest, bins = 32.703, 84
    partials = [[36.71, 0.3], [82.41, 0.1], [196.3, 0.02], [523.25, 0.1], [1318.5, 0.03], [3500.0, 0.1]]
    magnitudes = np.abs(librosa.cqt(sines(partials, 2), sr=RATE, fmin=lowest, n_bins=bins, hop_length=1024))
    lengths, _ = librosa.filters.wavelet_lengths(freqs=librosa.cqt_frequencies(bins, fmin=lowest), sr=RATE)
    levels = 20 * np.log10(np.maximum(magnitudes[:, magnitudes.shape[1] // 2] * 2 / np.sqrt(lengths), 1e-6))
    return {"partials": partials, "levels_db": rounded(levels, 4)}


def harmonic_notes(*notes, cents=0):
    """Notes with six harmonics each, as pairs of hertz and amplitude."""
    return [
        [round(float(440 * 2 ** ((note - 69 + cents / 100) / 12) * number), 6), round(0.1 / number, 6)]
        for note in notes for number in range(1, 7)
    ]


def chroma():
    """librosa's chroma and tuning of chords."""
    chords = [
        harmonic_notes(48, 60, 64, 67), harmonic_notes(45, 60, 64, 69), harmonic_notes(43, 59, 62, 65),
        harmonic_notes(50, 65, 69, 74, cents=-30), harmonic_notes(61, cents=25),
    ]
    return [
        {
            "partials": partials,
            "values": rounded(np.median(librosa.feature.chroma_cqt(y=sines(partials, 2), sr=RATE)[:, 40:-40], axis=1), 5),
            "tuning_cents": round(100 * float(librosa.estimate_tuning(y=sines(partials, 2), sr=RATE)), 1),
        }
        for partials in chords
    ]


# --- Key --------------------------------------------------------------------------------------------------------------

# The published profiles from the tonic on, and their names in Essentia.
PROFILES = {
    # Krumhansl 1990, page 30.
    "krumhansl": ("krumhansl", [6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88],
                  [6.33, 2.68, 3.52, 5.38, 2.60, 3.53, 2.54, 4.75, 3.98, 2.69, 3.34, 3.17]),
    # Temperley 2007, page 85.
    "temperley": ("temperley2005", [0.748, 0.060, 0.488, 0.082, 0.670, 0.460, 0.096, 0.715, 0.104, 0.366, 0.057, 0.400],
                  [0.712, 0.084, 0.474, 0.618, 0.049, 0.460, 0.105, 0.747, 0.404, 0.067, 0.133, 0.330]),
    # Faraldo et al. 2016.
    "edma": ("edma", [1.00, 0.29, 0.50, 0.40, 0.60, 0.56, 0.32, 0.80, 0.31, 0.45, 0.42, 0.39],
             [1.00, 0.31, 0.44, 0.58, 0.33, 0.49, 0.29, 0.78, 0.43, 0.29, 0.53, 0.32]),
    # The sum of temperley and of Essentia's bgate; check_general.
    "general": (None, [1.00, 0.00, 0.51, 0.01, 0.69, 0.47, 0.02, 0.85, 0.03, 0.41, 0.11, 0.39],
                [1.00, 0.02, 0.48, 0.60, 0.00, 0.49, 0.04, 0.88, 0.39, 0.01, 0.29, 0.32]),
}
BGATE = ([1.00, 0.00, 0.42, 0.00, 0.53, 0.37, 0.00, 0.77, 0.00, 0.38, 0.21, 0.30],
         [1.00, 0.00, 0.36, 0.39, 0.00, 0.38, 0.00, 0.74, 0.27, 0.00, 0.42, 0.23])
ESSENTIA_PITCHES = {"A": 9, "Bb": 10, "B": 11, "C": 0, "C#": 1, "D": 2, "Eb": 3, "E": 4, "F": 5, "F#": 6, "G": 7, "Ab": 8}
FRAME_SECONDS = 0.05


def scale_chroma(tonic, degrees, random):
    """A chroma with the notes of a scale, strong notes of its tonic triad, and weak other notes."""
    values = 0.15 * random.random_sample(12)
    for place, degree in enumerate(degrees):
        values[(tonic + degree) % 12] = 0.35 + 0.35 * random.random_sample() + (0.3 if place in (0, 2, 4) else 0)
    return np.round(values / values.max(), 3)


def key_correlations(mean, profile):
    """Pearson's correlation of a chroma with the profiles of 24 keys: 12 major ones from C on, 12 minor ones."""
    _, *modes = PROFILES[profile]
    return [np.corrcoef(np.roll(weights, tonic), mean)[0, 1] for weights in modes for tonic in range(12)]


def check_general():
    """The profile general is the sum of temperley and bgate, each with mean 0 and norm 1, from 0 to 1 and rounded."""
    def normalized(values):
        return (np.array(values) - np.mean(values)) / np.std(values)

    for own, one, other in zip(PROFILES["general"][1:], PROFILES["temperley"][1:], BGATE):
        mixed = normalized(one) + normalized(other)
        assert np.abs((mixed - mixed.min()) / np.ptp(mixed) - own).max() < 0.0051, own


def check_with_essentia(mean, profile, correlations):
    """Essentia has the same key and its correlation. Its profile `edma` has more digits than the published one."""
    key = essentia.standard.Key(profileType=PROFILES[profile][0], usePolyphony=False, useThreeChords=False, pcpSize=12)
    # Essentia's pitch classes begin with A.
    tonic, mode, strength, _ = key(np.roll(mean, -9).astype(np.float32))
    best = int(np.argmax(correlations))
    assert (ESSENTIA_PITCHES[tonic], mode) == (best % 12, "major" if best < 12 else "minor"), (tonic, mode, best)
    assert abs(strength - correlations[best]) < (0.005 if profile == "edma" else 1e-5), (strength, correlations[best])


def keys():
    """The correlations of given sequences of chroma with each profile."""
    check_general()
    random = np.random.RandomState(3)
    major, minor, harmonic = (0, 2, 4, 5, 7, 9, 11), (0, 2, 3, 5, 7, 8, 10), (0, 2, 3, 5, 7, 8, 11)
    chromas = [scale_chroma(*scale, random) for scale in [(0, major), (9, minor), (6, major), (3, harmonic)]]
    # Lists of (chroma, frames), and the time constant in seconds; None: all frames count alike.
    streams = [([(index, 60)], None) for index in range(4)] + [([(0, 80), (1, 70)], None), ([(2, 200), (3, 90)], 4.0)]
    cases = []
    for profile in PROFILES:
        for runs, window in streams:
            frames = np.concatenate([np.repeat(chromas[index][None], count, axis=0) for index, count in runs])
            ages = np.arange(len(frames))[::-1] * FRAME_SECONDS
            mean = np.average(frames, axis=0, weights=np.exp(-ages / window) if window else None)
            correlations = key_correlations(mean, profile)
            if PROFILES[profile][0]:
                check_with_essentia(mean, profile, correlations)
            cases.append({
                "profile": profile, "window_s": window, "runs": [list(run) for run in runs],
                "correlations": rounded(correlations, 6)})
    return {"frame_s": FRAME_SECONDS, "chroma": [list(values) for values in chromas], "cases": cases}


# --- Chords -----------------------------------------------------------------------------------------------------------

QUALITIES = ["maj", "min", "7", "min7", "maj7"]
ROOTS = ["C", "Db", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B"]
NO_CHORD = 60
MEAN_SECONDS = 2.0
DELAY = 2


def chord_notes(root, quality):
    """12 values from C on: 1 for the notes of a chord, by mir_eval; a seventh has 0.5."""
    number, notes, _ = mir_eval.chord.encode(f"{ROOTS[root]}:{quality}")
    assert number == root
    weights = np.array(notes, dtype=float)
    weights[[10, 11]] *= 0.5
    return np.roll(weights, root)


def chroma_persistence(chroma_frames):
    """For each frame, the autocorrelation of the chroma at a lag of 0.2 s, without its mean, over the last 5 s."""
    deviations = np.array(chroma_frames) - np.mean(chroma_frames, axis=1, keepdims=True)
    earlier = np.concatenate([np.zeros((4, 12)), deviations[:-4]])
    result = []
    for end in range(1, len(deviations) + 1):
        weights = np.exp(-np.arange(end)[::-1] * FRAME_SECONDS / 5)
        square = (weights * (deviations[:end] ** 2).sum(axis=1)).sum()
        result.append((weights * (deviations[:end] * earlier[:end]).sum(axis=1)).sum() / square if square else 0.0)
    return result


def chord_agreement(chroma_values, bass, persistence):
    """The correlation with each template and a tenth of the root's share of the bass; 0.5 to 0.26 for no chord."""
    values = np.full(61, -1.0)
    values[NO_CHORD] = 0.5 - 0.24 * np.clip((persistence - 0.15) / 0.15, 0, 1)
    if chroma_values.std() > 0:
        for state in range(60):
            template = chord_notes(state % 12, QUALITIES[state // 12])
            values[state] = np.corrcoef(template, chroma_values)[0, 1] + 0.1 * bass[state % 12] / max(bass.sum(), 1e-6)
    return values


def chord_paths(agreements):
    """The most probable path, and for each frame from `DELAY` on the state `DELAY` frames before it, by librosa's Viterbi decoder."""
    change = FRAME_SECONDS / MEAN_SECONDS
    transition = np.full((61, 61), change / 60)
    np.fill_diagonal(transition, 1 - change)
    # The state before the first frame is no chord; the others have a log probability of -5.
    initial = np.exp(np.full(61, -5.0))
    initial[NO_CHORD] = 1
    initial = (initial[:, None] * transition).max(axis=0)
    likelihood = np.exp(3 * (agreements - agreements.max()))
    decode = lambda count: librosa.sequence.viterbi(likelihood[:count].T, transition, p_init=initial / initial.sum())
    return decode(len(agreements)), [decode(count)[count - 1 - DELAY] for count in range(DELAY + 1, len(agreements) + 1)]


def chords():
    """A sequence of chroma and bass, its agreement with the chords, and its paths."""
    random = np.random.RandomState(7)
    # Root, quality and frames; quality None: noise, root None: silence. The third chord is too short to be on the path.
    parts = [(0, None, 8), (0, "maj", 14), (5, "min", 2), (0, "maj", 4), (2, "min7", 14), (7, "7", 12), (None, None, 3), (0, "maj7", 11)]
    chroma_frames, bass_frames = [], []
    for root, quality, count in parts:
        for _ in range(count):
            values, bass = 0.7 + 0.3 * random.random_sample(12), np.zeros(12)
            if quality:
                values = (chord_notes(root, quality) > 0) * (0.5 + 0.5 * random.random_sample(12)) + 0.35 * random.random_sample(12)
                bass = 0.4 * random.random_sample(12)
                bass[root] = 1
            if root is None:
                values[:] = 0
            chroma_frames.append(np.round(values / max(values.max(), 1e-9), 3))
            bass_frames.append(np.round(bass, 3))
    persistence = chroma_persistence(chroma_frames)
    agreements = np.array([chord_agreement(*frame) for frame in zip(chroma_frames, bass_frames, persistence)])
    path, delayed = chord_paths(agreements)
    states = {(QUALITIES[state // 12], state % 12) for state in path if state != NO_CHORD}
    assert states == {(quality, root) for root, quality, count in parts if quality and count > 2}, states
    assert NO_CHORD in path and list(path[: len(delayed)]) != delayed
    chosen = [3, 15, 30, 45, 55]
    return {
        "frame_s": FRAME_SECONDS, "mean_s": MEAN_SECONDS, "delay_frames": DELAY,
        "chroma": [list(frame) for frame in chroma_frames], "bass": [list(frame) for frame in bass_frames],
        "persistence": rounded(persistence, 6),
        "agreement": [{"frame": frame, "values": rounded(agreements[frame], 6)} for frame in chosen],
        "path": [int(state) for state in path], "delayed_path": [int(state) for state in delayed],
    }


# --- Pitch ------------------------------------------------------------------------------------------------------------

LOWEST, HIGHEST = 65.0, 2100.0
YIN_RATE, YIN_SIZE = 11_025, 1024


def melody():
    """Tones with an exactly known frequency, and what librosa's pyin estimates.

    Parts from `start_s` on, each with a frequency that moves by `cents_per_s`, a vibrato, and amplitudes of the harmonics.
    """
    def part(start, seconds, hertz, amplitudes, cents_per_s=0.0, vibrato_cents=0.0):
        return {"start_s": start, "seconds": seconds, "hz": hertz, "cents_per_s": cents_per_s, "vibrato_cents": vibrato_cents,
                "amplitudes": amplitudes}

    sawtooth = [0.2, 0.1, 0.0667, 0.05, 0.04]
    parts = [
        part(0.2, 0.8, 110.0, sawtooth), part(1.3, 0.8, 196.0, sawtooth, cents_per_s=500.0),
        part(2.4, 0.8, 440.0, sawtooth, vibrato_cents=40.0), part(3.5, 0.6, 150.0, [0.0, 0.15, 0.1, 0.1, 0.05]),
        part(4.4, 0.6, 987.77, [0.2, 0.02]),
    ]
    vibrato_hz, seconds = 5.0, 5.3
    samples, truth = np.zeros(int(seconds * RATE)), np.zeros(int(seconds * RATE))
    for one in parts:
        first, count = round(one["start_s"] * RATE), round(one["seconds"] * RATE)
        time = np.arange(count) / RATE
        cents = one["cents_per_s"] * time + one["vibrato_cents"] * np.sin(2 * np.pi * vibrato_hz * time)
        truth[first : first + count] = one["hz"] * 2 ** (cents / 1200)
        phase = 2 * np.pi * np.cumsum(truth[first : first + count]) / RATE
        for number, amplitude in enumerate(one["amplitudes"], 1):
            samples[first : first + count] += amplitude * np.sin(number * phase)
    estimate, _, _ = librosa.pyin(samples, fmin=LOWEST, fmax=HIGHEST, sr=RATE, frame_length=4096, hop_length=441)
    times, exact, estimates = [], [], []
    for time in np.arange(0.05, seconds - 0.05, 0.05):
        around = truth[round((time - 0.09) * RATE) if time > 0.09 else 0 : round((time + 0.09) * RATE)] > 0
        # Near the ends of the parts both values are uncertain.
        if around.all() or not around.any():
            times.append(round(float(time), 2))
            exact.append(round(float(truth[round(time * RATE)]), 3) if around.all() else None)
            value = estimate[round(time * 100)]
            estimates.append(None if np.isnan(value) else round(float(value), 3))
    for one, other in zip(exact, estimates):
        assert (one is None) == (other is None), (one, other)
        # pyin's resolution is 10 cents, and its window of 93 ms flattens a vibrato.
        assert one is None or abs(1200 * np.log2(one / other)) < 25, (one, other)
    return {"seconds": seconds, "vibrato_hz": vibrato_hz, "parts": parts, "times_s": times, "exact_hz": exact, "pyin_hz": estimates}


def yin_candidates(samples):
    """Periods and probabilities of a frame by pYIN's definitions, with the autocorrelation of Boersma 1993."""
    window = scipy.signal.get_window("hann", len(samples), fftbins=True)
    # Twice the resolution: the windowed frame between zeros, interpolated.
    def correlation(values):
        values = scipy.signal.resample(np.concatenate([values, np.zeros(len(values))]), 4 * len(values))
        return np.correlate(values, values, "full")[len(values) - 1 :]

    signal, shape = correlation(samples * window), correlation(window)
    rate = 2 * YIN_RATE
    last = int(np.ceil(rate / LOWEST)) + 2
    difference = np.maximum(0, 1 - signal[: last + 1] / signal[0] / (shape[: last + 1] / shape[0]))
    lags = np.arange(1, last + 1)
    normalised = np.concatenate([[1], difference[1:] * lags / np.maximum(np.cumsum(difference[1:]), 1e-12)])
    minima = []
    for lag in range(int(rate / HIGHEST) - 1, last):
        low, middle, high = normalised[lag - 1 : lag + 2]
        if middle < low and middle <= high:
            shift = 0.5 * (low - high) / (low - 2 * middle + high)
            minima.append(((lag + shift) / rate, max(0.0, middle - 0.25 * (low - high) * shift)))
    minima = [(period, height) for period, height in minima if 0.98 / HIGHEST <= period <= 1.02 / LOWEST]
    # Each threshold selects the first minimum below it; one threshold in a hundred below all of them selects the lowest.
    thresholds = (np.arange(20_000) + 0.5) / 20_000
    weights = np.diff(scipy.stats.beta.cdf(np.arange(20_001) / 20_000, 2, 4))
    probabilities = np.zeros(len(minima))
    lowest = int(np.argmin([height for _, height in minima]))
    for threshold, weight in zip(thresholds, weights):
        first = next((index for index, (_, height) in enumerate(minima) if height < threshold), None)
        probabilities[lowest if first is None else first] += weight * (0.01 if first is None else 1)
    return [[float(f"{period:.6g}"), round(float(probability), 5)]
            for (period, _), probability in zip(minima, probabilities) if probability > 0.003]


def yin_frames():
    """Single frames: a tone, one without its fundamental, two tones at once, and a tone beside a stronger inharmonic one."""
    frames = [
        [[220.0, 0.2], [440.0, 0.1], [660.0, 0.07]], [[300.0, 0.1], [450.0, 0.1], [600.0, 0.1]], [[130.8, 0.2], [207.65, 0.15]],
        [[987.77, 0.2], [1975.5, 0.05], [700.0, 0.1]],
    ]
    return [
        {"partials": partials, "candidates": yin_candidates(sines(partials, YIN_SIZE / YIN_RATE + 1e-9, YIN_RATE))}
        for partials in frames
    ]


# --- Storage ----------------------------------------------------------------------------------------------------------


def text_of(value, indent=0):
    """JSON with one line per list of numbers, so that a difference can be read."""
    inner = "\n" + " " * (indent + 1)
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {text_of(item, indent + 1)}" for key, item in value.items()]
        return "{" + inner + ("," + inner).join(lines) + "\n" + " " * indent + "}"
    if isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        return "[" + inner + ("," + inner).join(text_of(item, indent + 1) for item in value) + "\n" + " " * indent + "]"
    if isinstance(value, list):
        return "[" + ",".join(text_of(item) for item in value) + "]"
    return json.dumps(value, allow_nan=False)


def main():
    essentia.log.infoActive = False
    essentia.log.warningActive = False
    recipe = {module.__name__: module.__version__ for module in (librosa, mir_eval, np, scipy, essentia)}
    vectors = {
        "recipe": recipe, "constant_q": constant_q(), "chroma": chroma(), "keys": keys(), "chords": chords(),
        "pitch": {"lowest_hz": LOWEST, "highest_hz": HIGHEST, "melody": melody(), "frames": yin_frames()},
    }
    (HERE / "tonal.json").write_text(text_of(vectors) + "\n")


if __name__ == "__main__":
    main()
