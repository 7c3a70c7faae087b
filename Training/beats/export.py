"""Writes networks to the compact file that Hemiola reads, and test vectors for the Swift implementation.

    python -m beats.export weights CHECKPOINT OUTPUT [--bits 16]
    python -m beats.export vectors EXCERPT OUTPUT WEIGHTS...    outputs of PyTorch with the weights of the exported files
    python -m beats.export blend FIRST SECOND SHARE OUTPUT      a network between two weights files, one trained from the other

FEATURES.md documents the layout of the networks. That of the vectors, little-endian without padding:

    "HMBV"
    5 × u32                        version 1, frames N, bands 73, step S, number of networks
    u8 [N][73]                     band amplitudes: 10^((0.4 · v − 100) / 20), 0 for v = 0
    f32 [N / S][2][73]             levels and increases of the frames 0, S, 2S …
    f32 [N]                        onset activation
    per network u32, f32 [N][3]    causal (1) or whole file (0); onset, beat (with the onset share), downbeat
"""
import argparse
import struct
from pathlib import Path

import numpy as np
import torch

from . import model
from .features import BANDS, from_bytes, network_input

MAGIC, VERSION = b"HMBN", 1
HEADER = "<4sIIIIIIIIf"
VECTORS_MAGIC = b"HMBV"
# Frames of the test vectors (more than the 1024 of the longest look-ahead), and the distance of those whose input is stored.
VECTOR_FRAMES, INPUT_STEP = 1500, 50


def layers(network):
    """The convolutions in the order of the file."""
    result = [network.first, network.second, network.entry]
    for block in network.blocks:
        result += [block.convolution, block.mixing]
    return [*result, network.heads]


def normalization(network):
    """The batch normalization of the levels and the increases as (scales, offsets): y = scale · x + offset."""
    norm = network.normalization
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return scale.detach().numpy(), (norm.bias - scale * norm.running_mean).detach().numpy()


def to_file(network, bits=16):
    """The bytes of the weights file."""
    settings = network.settings
    if network.has_harmonic_input:
        raise ValueError("the harmonic input has no place in weights files of version 1: Hemiola cannot load this network")
    data = struct.pack(HEADER, MAGIC, VERSION, int(network.is_causal), settings["bands"], model.CHANNELS, settings["width"], settings["blocks"],
                       int(network.has_onset_input), bits, network.onset_share)
    data += b"".join(values.astype("<f4").tobytes() for values in normalization(network))
    for layer in layers(network):
        rows = layer.weight.detach().numpy().reshape(layer.out_channels, -1)
        data += layer.bias.detach().numpy().astype("<f4").tobytes()
        if bits == 32:
            data += rows.astype("<f4").tobytes()
            continue
        largest = 2 ** (bits - 1) - 1
        scales = (np.maximum(abs(rows).max(axis=1), 1e-12) / largest).astype(np.float32)
        data += scales.astype("<f4").tobytes()
        data += np.clip(np.round(rows / scales[:, None]), -largest, largest).astype(f"<i{bits // 8}").tobytes()
    return data


def from_file(data):
    """The network of a weights file, in evaluation mode."""
    header = struct.unpack_from(HEADER, data)
    magic, version, is_causal, bands, channels, width, count, has_onset_input, bits, onset_share = header
    if magic != MAGIC or version != VERSION or channels != model.CHANNELS or not 0 < count <= model.LAYERS or bits not in (8, 16, 32):
        raise ValueError("not a weights file of this version")
    network = model.BeatNetwork(bands, width, bool(is_causal), onset_share, bool(has_onset_input), blocks=count).eval()
    at = struct.calcsize(HEADER)

    def take(kind, size):
        nonlocal at
        values = np.frombuffer(data, kind, size, at)
        at += values.nbytes
        return torch.from_numpy(values.astype(np.float32))

    with torch.no_grad():
        norm = network.normalization
        norm.running_mean.zero_()
        norm.running_var.fill_(1 - norm.eps)
        norm.weight.copy_(take("<f4", 2))
        norm.bias.copy_(take("<f4", 2))
        for layer in layers(network):
            layer.bias.copy_(take("<f4", layer.out_channels))
            scales = take("<f4", layer.out_channels) if bits != 32 else torch.ones(layer.out_channels)
            rows = take("<f4" if bits == 32 else f"<i{bits // 8}", layer.weight.numel()).reshape(layer.out_channels, -1)
            layer.weight.copy_((rows * scales[:, None]).reshape(layer.weight.shape))
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes too many")
    return network


@torch.no_grad()
def blend(first, second, share):
    """The network whose weights lie between those of two networks, at `share` of the way to the second, which was trained from the first:
    it keeps most of what each does better (M. Wortsman et al., "Robust fine-tuning of zero-shot models", CVPR 2022)."""
    if first.settings != second.settings:
        raise ValueError("the networks differ in more than their weights")
    states = first.state_dict(), second.state_dict()
    first.load_state_dict({name: torch.lerp(value, states[1][name], share) if value.dtype.is_floating_point else value
                           for name, value in states[0].items()})
    return first


@torch.no_grad()
def vectors(steps, networks):
    """The bytes of the test vectors: the bands' bytes, the networks' input, and each network's output."""
    steps = steps[:VECTOR_FRAMES]
    x, onsets = network_input(from_bytes(steps))
    data = struct.pack("<4sIIIII", VECTORS_MAGIC, VERSION, len(steps), BANDS, INPUT_STEP, len(networks)) + steps.tobytes()
    data += x[:, ::INPUT_STEP].transpose(1, 0, 2).astype("<f4").tobytes() + onsets.astype("<f4").tobytes()
    for network in networks:
        output = network(torch.from_numpy(x)[None], torch.from_numpy(onsets)[None])[0]
        data += struct.pack("<I", int(network.is_causal)) + output.numpy().T.astype("<f4").tobytes()
    return data


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    weights = commands.add_parser("weights")
    weights.add_argument("checkpoint")
    weights.add_argument("output")
    weights.add_argument("--bits", type=int, choices=[8, 16, 32], default=16)
    test = commands.add_parser("vectors")
    test.add_argument("excerpt")
    test.add_argument("output")
    test.add_argument("weights", nargs="+")
    between = commands.add_parser("blend")
    between.add_argument("first")
    between.add_argument("second")
    between.add_argument("share", type=float)
    between.add_argument("output")
    options = parser.parse_args()
    if options.command == "blend":
        first, second = (from_file(Path(path).read_bytes()) for path in (options.first, options.second))
        Path(options.output).write_bytes(to_file(blend(first, second, options.share)))
    elif options.command == "weights":
        Path(options.output).write_bytes(to_file(model.load(options.checkpoint), options.bits))
    else:
        with np.load(options.excerpt) as arrays:
            steps = arrays["bands0"]
        Path(options.output).write_bytes(vectors(steps, [from_file(Path(path).read_bytes()) for path in options.weights]))
    print(f"{options.output}: {Path(options.output).stat().st_size} bytes")


if __name__ == "__main__":
    main()
