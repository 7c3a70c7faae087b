import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from beats import augment, dataset, export, features, model
from beats.train import bar_loss, loss_of, tempo_loss


def example(frames=300, seed=0):
    rng = np.random.default_rng(seed)
    steps = rng.integers(0, 200, (frames, features.BANDS)).astype(np.uint8)
    x, onsets = features.network_input(features.from_bytes(steps))
    return steps, torch.from_numpy(x)[None], torch.from_numpy(onsets)[None]


def trained(is_causal, **settings):
    """A network whose normalization and weights are not those of the start."""
    torch.manual_seed(1)
    network = model.BeatNetwork(is_causal=is_causal, **settings)
    network.train()
    for seed in range(3):
        network(*example(seed=seed)[1:])
    return network.eval()


@torch.no_grad()
def test_the_causal_network_does_not_look_ahead_and_the_other_does():
    _, x, onsets = example()
    changed = x.clone()
    changed[:, :, 200:] = 0
    for is_causal in (True, False):
        network = trained(is_causal)
        difference = abs(network(x, onsets) - network(changed, onsets))[0, :, :200].max()
        assert (difference < 1e-6) == is_causal


@torch.no_grad()
def test_the_beat_probability_includes_the_onset_share():
    _, x, onsets = example()
    network = trained(True, onset_share=0.35, has_onset_input=False)
    mixed = network(x, onsets)[0, 1]
    network.onset_share = 0.0
    assert torch.allclose(mixed, 0.65 * network(x, onsets)[0, 1] + 0.35 * onsets[0], atol=1e-6)


@torch.no_grad()
@pytest.mark.parametrize(("bits", "tolerance"), [(32, 1e-5), (16, 1e-3), (8, 0.15)])
def test_a_weights_file_gives_the_same_output(bits, tolerance):
    _, x, onsets = example()
    for is_causal in (True, False):
        network = trained(is_causal)
        data = export.to_file(network, bits)
        assert len(data) < {32: 150_000, 16: 78_000, 8: 42_000}[bits]
        restored = export.from_file(data)
        assert restored.is_causal == is_causal
        assert abs(restored(x, onsets) - network(x, onsets)).max() < tolerance


@torch.no_grad()
def test_a_blend_lies_between_two_networks_of_one_kind():
    _, x, onsets = example()
    first, second = trained(True), trained(True)
    second.heads.bias += 1
    half = export.blend(trained(True), second, 0.5)
    assert torch.allclose(half.heads.bias, (first.heads.bias + second.heads.bias) / 2)
    assert torch.equal(export.blend(trained(True), second, 1)(x, onsets), second(x, onsets))
    with pytest.raises(ValueError):
        export.blend(first, trained(False), 0.5)


def test_a_damaged_weights_file_is_refused():
    data = export.to_file(trained(True))
    with pytest.raises(ValueError):
        export.from_file(b"XXXX" + data[4:])
    with pytest.raises(ValueError):
        export.from_file(data + b"\0")


def test_the_vectors_hold_input_and_output_of_each_network():
    steps, x, onsets = example()
    networks = [trained(True), trained(False)]
    data = export.vectors(steps, networks)
    at = 24 + steps.size + 300 // export.INPUT_STEP * 2 * features.BANDS * 4
    assert np.allclose(np.frombuffer(data, "<f4", 300, at), onsets[0])
    assert len(data) == at + 300 * 4 + 2 * (4 + 300 * 3 * 4)
    with torch.no_grad():
        expected = networks[1](x, onsets)[0].numpy().T
    assert np.allclose(np.frombuffer(data, "<f4")[-900:].reshape(300, 3), expected, atol=1e-6)


@torch.no_grad()
def test_the_shipped_weights_give_the_outputs_of_the_shipped_vectors():
    root = Path(__file__).parents[2]
    data = (root / "Plugins/Analyzers/Beat/Tests/vectors.bin").read_bytes()
    _, _, frames, bands, step, count = struct.unpack_from("<4sIIIII", data)
    steps = np.frombuffer(data, np.uint8, frames * bands, 24).reshape(frames, bands)
    x, onsets = features.network_input(features.from_bytes(steps))
    at = 24 + steps.size + frames // step * 2 * bands * 4 + frames * 4
    assert count == 3
    for name in ("beats-causal", "beats-whole-file", "drums"):
        network = export.from_file((root / f"Libraries/CBeatWeights/{name}.bin").read_bytes())
        assert network.is_causal == struct.unpack_from("<I", data, at)[0]
        expected = np.frombuffer(data, "<f4", frames * 3, at + 4).reshape(frames, 3)
        at += 4 + frames * 12
        assert np.allclose(network(torch.from_numpy(x)[None], torch.from_numpy(onsets)[None])[0].T, expected, atol=1e-5)
    assert at == len(data)


def test_masked_frames_do_not_count_in_the_loss():
    output, targets, mask = torch.full((1, 3, 10), 0.5), torch.zeros(1, 3, 10), torch.ones(1, 3, 10)
    targets[0, 2, 5:] = 1
    mask[0, 2] = 0
    assert torch.allclose(loss_of(output, targets, mask), torch.tensor([0.6931, 0.6931, 0.0]), atol=1e-3)


def test_targets_are_1_at_the_event_and_one_half_beside_it():
    assert dataset.targets(8, np.array([3.2, 20.0])).tolist() == [0, 0, 0.5, 1, 0.5, 0, 0, 0]


def test_augmented_amplitudes_are_finite_and_not_negative():
    rng = np.random.default_rng(0)
    x = rng.random((400, features.BANDS)).astype(np.float32) ** 4
    for _ in range(60):
        result = augment.random_chain(rng, x, x[:100] if rng.random() < 0.3 else None)
        assert result.shape == x.shape and result.dtype == np.float32
        assert np.isfinite(result).all() and result.min() >= 0
    assert augment.random_chain(rng, np.zeros_like(x)).max() == 0


def test_noise_is_mixed_at_its_level_and_falls_with_the_frequency():
    rng = np.random.default_rng(0)
    x = rng.random((400, features.BANDS)).astype(np.float32)
    for exponent in (augment.WHITE, augment.PINK, augment.BROWN):
        noise = augment.noise(rng, 400, exponent)
        octave = noise[:, -1].mean() / noise[:, -1 - features.BANDS_PER_OCTAVE].mean()
        assert np.isclose(octave, 2 ** (-exponent / 2), rtol=0.1)
        added = np.square(augment.mix(x, noise, 10)) - np.square(x)
        assert np.isclose((added @ features.WIDTHS).mean() / (np.square(x) @ features.WIDTHS).mean(), 0.1, rtol=1e-3)


def test_softened_attacks_rise_slowly_and_fall_unchanged():
    x = np.zeros((60, features.BANDS), np.float32)
    x[20:40] = 1
    result = augment.soften(np.random.default_rng(0), x)
    assert 0 < result[20, 0] < 1 and (np.diff(result[20:40, 0]) > 0).all() and result[40:].max() == 0


def test_a_voice_has_moving_harmonics_below_the_given_level():
    rng = np.random.default_rng(1)
    x = np.full((600, features.BANDS), 0.1, np.float32)
    added = augment.add_voice(rng, x) - x
    places = added.argmax(axis=1)[added.max(axis=1) > 1e-3]
    assert added.min() >= 0 and len(set(places)) > 3


def test_a_new_chord_is_a_harmonic_change_for_200_ms_and_a_louder_or_held_one_is_not():
    levels = torch.zeros(1, 300, features.BANDS)
    low, high = (int(np.argmin(abs(features.CENTRES - hertz))) for hertz in (440, 660))
    levels[:, :150, low] = 2
    levels[:, 150:, high] = 2
    change = model.harmonic_change(levels)[0]
    assert change.shape == (12, 300) and change[:, :150].max() == 0 and change[:, 180:].max() == 0
    assert (change[:, 165] > 0).sum() == 1
    assert torch.equal(model.harmonic_change(levels[:, :160])[0], change[:, :160])  # causal


@torch.no_grad()
def test_the_harmonic_input_changes_the_output_and_is_refused_at_export():
    _, x, onsets = example()
    for is_causal in (True, False):
        network = trained(is_causal, width=32, has_harmonic_input=True)
        assert network(x, onsets).shape == (1, 3, 300)
        network.entry.weight[:, -12:] = 0
        assert not torch.equal(network(x, onsets), trained(is_causal, width=32, has_harmonic_input=True)(x, onsets))
        with pytest.raises(ValueError, match="cannot load"):
            export.to_file(network)


@torch.no_grad()
def test_the_tempo_head_is_trained_on_steady_beats_and_is_no_part_of_the_weights_file():
    _, x, onsets = example()
    network = trained(True, has_tempo_head=True)
    weights = torch.from_numpy(np.stack([dataset.tempo_weights(np.arange(8) * 50.0), dataset.tempo_weights(np.array([0.0, 50, 51, 200]))]))
    assert np.isclose(model.TEMPI[weights[0].argmax()], 120, rtol=0.05) and weights[1].max() == 0
    right = torch.log(weights + 1e-6)
    assert tempo_loss(right, weights) < tempo_loss(right.roll(5, 1), weights)
    assert network.tempo(network.hidden(x, onsets)).shape == (1, len(model.TEMPI))
    assert export.to_file(network) == export.to_file(trained(True))


@torch.no_grad()
def test_a_widened_network_has_almost_the_same_output_and_its_new_hidden_values_learn():
    _, x, onsets = example()
    for is_causal in (True, False):
        network = trained(is_causal)
        wide = model.widened(network, 40, has_tempo_head=True).eval()
        assert wide.settings["width"] == 40 and wide.is_causal == is_causal
        assert abs(wide(x, onsets) - network(x, onsets)).max() < 0.02
        with torch.enable_grad():
            wide(x, onsets).sum().backward()
        assert wide.blocks[3].convolution.weight.grad[24:].abs().max() > 0
        assert len(export.to_file(wide, 32)) > 1.9 * len(export.to_file(network, 32))


def test_the_bar_head_is_trained_at_beats_whose_bar_is_known_and_is_no_part_of_the_weights_file():
    places = dataset.place_targets(40, np.array([5.2, 15, 25, 45]), np.array([4, 1, 0, 2]))
    assert places[4:7].tolist() == [6, 6, 6] and places[15] == 3 and places[25] == -1 and (places >= 0).sum() == 6
    assert dataset.place_targets(40, np.array([5, 15, 25]), np.array([1, 2, 1])).max() == -1
    assert dataset.place_targets(40, np.array([5, 15, 25]), np.array([3, 1, 2]))[5] == 2
    logits = torch.zeros(1, model.PLACES, 40)
    labels = torch.from_numpy(places)[None]
    right = torch.nn.functional.one_hot(labels.clamp(min=0), model.PLACES).transpose(1, 2).float()
    assert bar_loss(5 * right, labels) < bar_loss(logits, labels) and bar_loss(logits, torch.full_like(labels, -1)) == 0
    assert export.to_file(trained(True, has_bar_head=True)) == export.to_file(trained(True))
