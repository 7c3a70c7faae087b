"""Analysis of one file or array."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import FolderError
from ._options import Options, PathLike, Specs, Time, path_argument
from ._process import Process
from ._result import Analysis
from ._samples import raw_samples
from ._stream import Stream


def analyze(
    source: PathLike | NDArray[Any],
    *,
    sample_rate: float | None = None,
    channel_axis: int | None = None,
    analyzers: Specs = None,
    select: Specs = None,
    whole_file: bool = False,
    batch: int | None = None,
    start: Time = None,
    duration: Time = None,
) -> Analysis:
    """Analyses a file or an array of samples. For several files and folders: `analyze_many`.

    source: a path, or an array: (frames,) for mono, else (channels, frames) as of librosa or (frames, channels) as of soundfile. The
        axis of 1 to 32 elements contains the channels; if both axes are that short, or both longer, pass `channel_axis` (0 or 1).
        Floating-point samples are in −1…1; integers of 8, 16 and 32 bits are divided by their full scale.
    sample_rate: of an array, in hertz. A file has its own.
    analyzers: plugins with settings, as `--analyzer`: "levels", ["levels", "spectrum:bands=40,mfcc=13"], "+spectrum:mfcc=13,as=timbre".
    select: only these records or features, as `--select`: "levels.rms_db,beat". Header, gaps and end are always included.
    whole_file: read the whole input before the results: more accurate beats.
    batch: frames per batch, 256…8192. Default: 1024.
    start, duration: the part of a file, in seconds or as "1:30". Of an array, pass a slice.

    The result contains the output of the program: about 1.3 KB per batch with all analyzers, 3.4 MB per minute. `stream` has bounded
    memory.

    Raises InputError (the input cannot be read; a folder: also IsADirectoryError), UsageError (a setting is invalid), ValueError or TypeError (the array is not usable).
    Warns with PartialInputWarning if the input is truncated or damaged; the result contains what was analysed.
    """
    with stream(
        source,
        sample_rate=sample_rate,
        channel_axis=channel_axis,
        analyzers=analyzers,
        select=select,
        whole_file=whole_file,
        batch=batch,
        start=start,
        duration=duration,
    ) as records:
        lines = list(records.lines())
        return Analysis(lines, error=records.error)


def stream(
    source: PathLike | NDArray[Any],
    *,
    sample_rate: float | None = None,
    channel_axis: int | None = None,
    analyzers: Specs = None,
    select: Specs = None,
    whole_file: bool = False,
    batch: int | None = None,
    start: Time = None,
    duration: Time = None,
) -> Stream:
    """Analyses a file or an array, and returns an iterator over the records as the program writes them.

    Memory does not depend on the length of the file. The arguments are those of `analyze`.
    """
    options = Options(analyzers, select, batch, whole_file, start, duration)
    if not isinstance(source, np.ndarray):
        if sample_rate is not None or channel_axis is not None:
            raise ValueError("sample_rate and channel_axis belong to an array; a file has its own sample rate and channels")
        path = path_argument(source)
        # The program would write the records of all its files, one after the other.
        if os.path.isdir(path):
            raise FolderError(path)
        return Stream(Process(["analyze", *options.arguments(), "--", path]))
    if start is not None or duration is not None:
        raise ValueError("start and duration belong to a file; pass a slice of the array: samples[first:last]")
    samples = raw_samples(source, sample_rate, channel_axis)
    if whole_file:
        # Two passes: the program keeps the samples in an unlinked temporary file.
        source_arguments = ["--capture", f"pcm:path=-,raw={samples.layout.replace(',', ':')},spool=true"]
    else:
        source_arguments = ["--raw", samples.layout, "-"]
    process = Process(["analyze", *options.arguments(), *source_arguments], has_input=True)
    process.write_all(samples.blocks())
    return Stream(process)
