"""Options of the program, from Python values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

PathLike = Union[str, "os.PathLike[str]"]
Specs = Union[str, Sequence[str], None]
Time = Union[float, str, None]

# Without them, a result has no description of its features, no end and no losses.
_ALWAYS_SELECTED = ("header", "gap", "end")


@dataclass(frozen=True)
class Options:
    """The options that `analyze`, `stream`, `listen` and `Worker` share."""

    analyzers: Specs = None
    select: Specs = None
    batch: int | None = None
    whole_file: bool | None = None
    start: Time = None
    duration: Time = None

    def arguments(self) -> list[str]:
        arguments = [f"--analyzer={spec}" for spec in _texts(self.analyzers)]
        selected = _texts(self.select)
        if selected:
            arguments.append("--select=" + ",".join((*_ALWAYS_SELECTED, *selected)))
        if self.batch is not None:
            arguments.append(f"--batch={self.batch}")
        if self.whole_file is not None:
            arguments.append("--whole-file" if self.whole_file else "--causal")
        if self.start is not None:
            arguments.append(f"--start={_time(self.start)}")
        if self.duration is not None:
            arguments.append(f"--duration={_time(self.duration)}")
        return arguments


def path_argument(path: PathLike) -> str:
    """A path as an argument: `-` is a file of that name, not standard input."""
    try:
        text = os.fspath(path)
    except TypeError:
        kind = type(path).__name__
        raise TypeError(f"a path is a str or an os.PathLike, not {kind}; analyze_many takes several paths") from None
    return "./-" if text == "-" else text


def _texts(specs: Specs) -> list[str]:
    if specs is None:
        return []
    return [specs] if isinstance(specs, str) else list(specs)


def _time(time: float | str) -> str:
    # No exponent: the program reads 90, 1:30 and 0.000001, but not 1e-06.
    return time if isinstance(time, str) else f"{time:.9f}"
