"""An input that can be read again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import FolderError
from ._options import Options, PathLike, option_arguments, path_argument
from ._process import Process
from ._samples import raw_samples


@dataclass(frozen=True, eq=False)
class Input:
    """A file or an array, and the options of its analysis."""

    source: PathLike | NDArray[Any] = field(repr=False)
    options: Options
    sample_rate: float | None = None
    channel_axis: int | None = None

    def process(self, options: Options | None = None, more: Sequence[str] = ()) -> Process:
        """Starts an analysis, with other options where they are given."""
        options = self.options if options is None else options
        arguments = ["analyze", *option_arguments(options), *more]
        if not isinstance(self.source, np.ndarray):
            if self.sample_rate is not None or self.channel_axis is not None:
                raise ValueError("sample_rate and channel_axis belong to an array; a file has its own sample rate and channels")
            path = path_argument(self.source)
            # The program would write the records of all its files, one after the other.
            if os.path.isdir(path):
                raise FolderError(path)
            return Process([*arguments, "--", path])
        if options.get("start") is not None or options.get("duration") is not None:
            raise ValueError("start and duration belong to a file; pass a slice of the array: samples[first:last]")
        samples = raw_samples(self.source, self.sample_rate, self.channel_axis)
        if options.get("whole_file") is not False:
            # Two passes: the program keeps the samples in an unlinked temporary file.
            arguments += ["--capture", f"pcm:path=-,raw={samples.layout.replace(',', ':')},spool=true"]
        else:
            arguments += ["--raw", samples.layout, "-"]
        process = Process(arguments, has_input=True)
        process.write_all(samples.blocks())
        return process
