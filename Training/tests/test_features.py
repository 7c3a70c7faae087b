import numpy as np

from beats import features


def tone(hertz, seconds=1.0):
    return np.sin(2 * np.pi * hertz * np.arange(int(seconds * features.SAMPLE_RATE)) / features.SAMPLE_RATE).astype(np.float32)


def test_the_filter_bank_has_73_bands_and_each_band_sums_to_the_amplitude_of_a_sine():
    assert features.BANDS == 73
    assert np.allclose(features.BANK.sum(axis=0), 4 / features.SIZE, rtol=1e-5)


def test_a_sine_at_1_kHz_is_largest_in_the_band_around_1_kHz():
    amplitudes = features.band_amplitudes(tone(1000.0))
    centre = (features.BANK[:, amplitudes[50].argmax()] * np.arange(len(features.BANK))).sum() / (4 / features.SIZE)
    assert abs(centre * features.SAMPLE_RATE / features.SIZE - 1000) < 40


def test_stored_bytes_keep_amplitudes_within_a_quarter_decibel():
    amplitudes = np.geomspace(2e-5, 1, 500)
    error = 20 * np.log10(features.from_bytes(features.to_bytes(amplitudes)) / amplitudes)
    assert abs(error).max() <= 0.21
    assert features.from_bytes(features.to_bytes(np.zeros(3))).max() == 0


def test_decaying_maximum_equals_its_recursion():
    values = np.random.default_rng(0).random(500)
    expected, state = [], 0
    for value in values:
        state = max(value, state * np.exp(-features.FRAME_SECONDS / 0.3))
        expected.append(max(state, 0.1))
    assert np.allclose(features.decaying_maximum(values, 0.3, 0.1), expected, rtol=1e-5)


def test_the_input_does_not_depend_on_gain_and_frames_do_not_depend_on_later_ones():
    amplitudes = np.random.default_rng(1).random((300, features.BANDS)).astype(np.float32)
    x, onsets = features.network_input(amplitudes)
    louder, louder_onsets = features.network_input(amplitudes * 0.1)
    assert np.allclose(x, louder, atol=1e-4) and np.allclose(onsets, louder_onsets, atol=1e-4)
    start, start_onsets = features.network_input(amplitudes[:100])
    assert np.allclose(x[:, :100], start, atol=1e-5) and np.allclose(onsets[:100], start_onsets, atol=1e-5)


def test_the_onset_activation_peaks_within_10_ms_of_a_click_and_never_exceeds_its_limit():
    audio = np.zeros(3 * features.SAMPLE_RATE, np.float32)
    audio[::features.SAMPLE_RATE // 2] = 0.8
    _, onsets = features.network_input(features.band_amplitudes(audio))
    for beat in range(50, 300, 50):
        assert abs(int(onsets[beat - 20:beat + 20].argmax()) - 20) <= 1
    assert onsets.max() <= features.HIGHEST_ONSET + 1e-6


def test_silence_has_input_zero():
    x, onsets = features.network_input(np.zeros((50, features.BANDS), np.float32))
    assert x.max() == 0 and onsets.max() == 0
