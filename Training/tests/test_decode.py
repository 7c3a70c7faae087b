import numpy as np
import pytest

from beats import decode, metrics

FRAMES = 2000


@pytest.fixture(scope="module")
def hmm():
    return decode.BeatHMM()


def activation(beats, level=0.8):
    result = np.full(FRAMES, 0.01)
    for offset, share in ((-1, 0.5), (1, 0.5), (0, 1)):
        result[np.round(beats * 100).astype(int) + offset] = level * share
    return result


@pytest.mark.parametrize("tempo", [60, 92, 120, 174, 200])
def test_steady_beats_are_found_by_both_decoders(hmm, tempo):
    beats = np.arange(0.3, 19.8, 60 / tempo)
    signal = activation(beats)
    assert metrics.f_measure(beats, hmm.viterbi(signal), skipped=0) > 0.97
    assert metrics.f_measure(beats, hmm.forward(signal)) > 0.95


def test_a_missing_beat_is_filled_in(hmm):
    beats = np.arange(0.3, 19.8, 0.5)
    estimate = hmm.viterbi(activation(np.delete(beats, 20)))
    assert abs(estimate - beats[20]).min() < 0.03


def test_a_gradual_change_of_tempo_is_followed(hmm):
    beats = np.cumsum(60 / np.linspace(90, 130, 34))
    beats = beats[beats < 19.9]
    assert metrics.f_measure(beats, hmm.viterbi(activation(beats))) > 0.95


def test_the_path_of_the_viterbi_decoder_is_the_best_of_all_on_a_small_model():
    small = decode.BeatHMM(slowest=1000, fastest=2000)  # Intervals of 3 to 6 frames.
    rng = np.random.default_rng(0)
    signal = rng.random(9)
    beat, other = small.observations(signal)

    def score(path):
        value = np.log(np.where(small.is_beat[path[0]], beat[0], other[0]))
        for frame, (a, b) in enumerate(zip(path, path[1:]), 1):
            if small.position_of[b] == 0 and small.position_of[a] == small.interval_of[a] - 1:
                change = small.changes[np.searchsorted(small.first, a, "right") - 1, np.searchsorted(small.first, b)]
                value += np.log(change) if change > 0 else -np.inf
            elif b != a + 1 or small.position_of[b] == 0:
                return -np.inf
            value += np.log(beat[frame] if small.is_beat[b] else other[frame])
        return value

    def extend(path):
        if len(path) == len(signal):
            yield path
            return
        last = path[-1]
        is_last = small.position_of[last] == small.interval_of[last] - 1
        for following in (small.first if is_last else [last + 1]):
            yield from extend([*path, int(following)])

    best = max((path for start in range(small.count) for path in extend([start])), key=score)
    inside = small.is_beat[best]
    edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(int), [0]])))
    expected = [(a + int(np.argmax(signal[a:b]))) * small.frame_seconds for a, b in zip(edges[::2], edges[1::2])]
    assert np.allclose(small.viterbi(signal), expected)


def test_presence_is_low_without_beats_and_returns_within_two_seconds():
    signal = activation(np.concatenate([np.arange(0.5, 7, 0.5), np.arange(14, 19.9, 0.5)]))
    causal = decode.presence(signal)
    assert causal[400] > 0.9 and causal[1100] < 0.1 and causal[1600] > 0.9
    whole = decode.presence(signal, is_causal=False)
    assert whole[20] > 0.9 and whole[1050] < 0.1 and whole[1450] > 0.9


def test_causal_presence_does_not_depend_on_later_frames():
    signal = np.random.default_rng(0).random(FRAMES) * 0.5
    assert np.array_equal(decode.presence(signal)[:700], decode.presence(signal[:700]))


def test_silence_has_no_beats(hmm):
    silence = np.full(FRAMES, 0.01)
    for is_causal, decoder in ((True, hmm.forward), (False, hmm.viterbi)):
        assert len(decoder(silence, decode.presence(silence, is_causal))) <= 2


@pytest.mark.parametrize("meter", [3, 4])
def test_bars_are_found(meter):
    beats = np.arange(0.5, 19, 0.5)
    beat, downbeat = activation(beats), activation(beats[1::meter], 0.6)
    positions = decode.bar_positions(beats, beat, downbeat)
    assert np.array_equal(np.flatnonzero(positions == 1) % meter, np.full(len(beats[1::meter]), 1))
