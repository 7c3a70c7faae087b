"""Analysis of arrays: the records are those of a file with the same samples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import music, write_wav
from numpy.typing import NDArray

from hemiola_audio import Analysis, UsageError, analyze

Conversion = Callable[[NDArray[np.int16]], NDArray[Any]]


def without_source(result: Analysis) -> list[dict[str, Any]]:
    records = list(result)
    del records[0]["source"]
    return records


CONVERSIONS: dict[str, Conversion] = {
    "int16": lambda samples: samples,
    "float32": lambda samples: samples.astype(np.float32) / 32768,
    "float64": lambda samples: samples.astype(np.float64) / 32768,
    "int32": lambda samples: samples.astype(np.int32) << 16,
    "big-endian": lambda samples: samples.astype(">i2"),
    "reversed twice": lambda samples: samples[::-1].copy()[::-1],
}


@pytest.mark.parametrize("conversion", CONVERSIONS)
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("channel_first", [False, True])
def test_records_equal_those_of_a_file(tmp_path: Path, conversion: str, channels: int, channel_first: bool) -> None:
    samples = music(2)[:, :channels]
    expected = analyze(write_wav(tmp_path / "song.wav", samples, 44_100))
    array = CONVERSIONS[conversion](samples)
    result = analyze(array.T if channel_first else array, sample_rate=44_100)
    assert without_source(result) == without_source(expected)


def test_one_dimension_is_mono(tmp_path: Path) -> None:
    samples = music(2)[:, 0]
    expected = analyze(write_wav(tmp_path / "song.wav", samples, 22_050))
    assert without_source(analyze(samples, sample_rate=22_050.0)) == without_source(expected)


def test_whole_file(tmp_path: Path) -> None:
    samples = music(8)
    expected = analyze(write_wav(tmp_path / "song.wav", samples, 44_100), whole_file=True)
    assert without_source(analyze(samples, sample_rate=44_100, whole_file=True)) == without_source(expected)


def test_more_channels() -> None:
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, (32, 4096)).astype(np.float32)
    assert analyze(noise, sample_rate=8000).header["channels"] == 32


@pytest.mark.parametrize("shape", [(2, 2), (32, 10), (40, 50)])
def test_ambiguous_shape_is_refused_without_an_axis(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="channel_axis=0"):
        analyze(np.zeros(shape, dtype=np.float32), sample_rate=44_100)


@pytest.mark.parametrize(("axis", "channels", "frames"), [(0, 2, 30), (1, 30, 2), (-1, 30, 2), (-2, 2, 30)])
def test_ambiguous_shape_with_an_axis(axis: int, channels: int, frames: int) -> None:
    result = analyze(np.zeros((2, 30), dtype=np.float32), sample_rate=44_100, channel_axis=axis, analyzers="levels")
    assert result.end is not None
    assert (result.header["channels"], result.end["frames"]) == (channels, frames)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (np.zeros(0), "no samples"),
        (np.zeros((0, 2)), "no samples|does not show"),
        (np.zeros(10, dtype=complex), "complex128 are not supported"),
        (np.zeros(10, dtype=bool), "bool are not supported"),
        (np.zeros(10, dtype=np.int64), "int64 are not supported"),
    ],
)
def test_unusable_array_is_refused(array: NDArray[Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        analyze(array, sample_rate=44_100)


def test_unusable_arguments_are_refused() -> None:
    samples = music(1)
    with pytest.raises(ValueError, match="needs its sample rate"):
        analyze(samples)
    with pytest.raises(ValueError, match="whole number"):
        analyze(samples, sample_rate=44_100.5)
    with pytest.raises(ValueError, match="slice"):
        analyze(samples, sample_rate=44_100, start=1)
    with pytest.raises(ValueError, match="33 channels"):
        analyze(np.zeros((33, 100)), sample_rate=44_100, channel_axis=0)
    with pytest.raises(UsageError, match="384000"):
        analyze(samples, sample_rate=1_000_000)


def test_program_that_stops_before_the_end_of_the_array() -> None:
    """The program refuses its arguments while the samples are still being written."""
    with pytest.raises(UsageError):
        analyze(np.zeros(10_000_000, dtype=np.float32), sample_rate=44_100, analyzers="nothing")
