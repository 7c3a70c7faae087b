"""Arrays of samples, as raw samples for the program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAXIMUM_CHANNELS = 32
_BLOCK_FRAMES = 1 << 16

# The encoding of each type of sample. Floating-point samples are sent in single precision, as the program computes.
_ENCODINGS: dict[str, tuple[str, str]] = {
    "float16": ("<f4", "f32le"),
    "float32": ("<f4", "f32le"),
    "float64": ("<f4", "f32le"),
    "uint8": ("u1", "u8"),
    "int8": ("i1", "s8"),
    "int16": ("<i2", "s16le"),
    "int32": ("<i4", "s32le"),
}


@dataclass(frozen=True)
class RawSamples:
    """Samples as the program reads them: interleaved, little-endian."""

    frames: NDArray[Any]
    """Shape (frames, channels)."""
    dtype: str
    layout: str
    """Encoding, sample rate, channels: `f32le,44100,2`."""

    def blocks(self) -> Iterator[bytes]:
        """The bytes, in blocks of bounded size."""
        for start in range(0, len(self.frames), _BLOCK_FRAMES):
            yield self.frames[start : start + _BLOCK_FRAMES].astype(self.dtype).tobytes()


def raw_samples(samples: NDArray[Any], sample_rate: float | None, channel_axis: int | None) -> RawSamples:
    """Checks an array and describes it.

    Raises ValueError or TypeError if the sample rate, the shape or the type of the samples is not usable.
    """
    if sample_rate is None:
        raise ValueError("an array needs its sample rate: analyze(samples, sample_rate=44100)")
    if int(sample_rate) != sample_rate:
        raise ValueError(f"the sample rate {sample_rate} is not a whole number of hertz")
    if samples.dtype.name not in _ENCODINGS:
        known = ", ".join(_ENCODINGS)
        raise TypeError(f"samples of type {samples.dtype.name} are not supported; convert them to one of {known}")
    frames = _frames_first(samples, channel_axis)
    if frames.shape[0] == 0:
        raise ValueError("the array contains no samples")
    dtype, encoding = _ENCODINGS[samples.dtype.name]
    return RawSamples(frames, dtype, f"{encoding},{int(sample_rate)},{frames.shape[1]}")


def _frames_first(samples: NDArray[Any], channel_axis: int | None) -> NDArray[Any]:
    if samples.ndim == 1:
        return samples[:, np.newaxis]
    if samples.ndim != 2:
        raise ValueError(f"an array of {samples.ndim} dimensions is not audio: 1 (mono) or 2 (frames and channels) are supported")
    if channel_axis is None:
        fits = [axis for axis in (0, 1) if 1 <= samples.shape[axis] <= MAXIMUM_CHANNELS]
        if len(fits) != 1:
            raise ValueError(
                f"the shape {samples.shape} does not show which axis contains the channels (1 to {MAXIMUM_CHANNELS}); pass channel_axis=0 "
                "for (channels, frames), as of librosa, or channel_axis=1 for (frames, channels), as of soundfile"
            )
        channel_axis = fits[0]
    if channel_axis not in (-2, -1, 0, 1):
        raise ValueError(f"channel_axis is {channel_axis}: 0 or 1 are possible")
    frames = samples.T if channel_axis in (0, -2) else samples
    if not 1 <= frames.shape[1] <= MAXIMUM_CHANNELS:
        raise ValueError(f"{frames.shape[1]} channels: 1 to {MAXIMUM_CHANNELS} are supported")
    return frames
