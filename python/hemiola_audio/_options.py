"""Options of the program, from Python values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypedDict, Union

PathLike = Union[str, "os.PathLike[str]"]
Specs = Union[str, Sequence[str], None]
Time = Union[float, str, None]

# Without them, a result has no description of its features, no end and no losses.
_ALWAYS_SELECTED = ("header", "gap", "end")


class Options(TypedDict, total=False):
    """The options of the program, which `analyze` describes. None: as if it were not there."""

    analyzers: Specs
    select: Specs
    whole_file: bool | None
    batch: int | None
    start: Time
    duration: Time


def option_arguments(options: Options) -> list[str]:
    """The options as arguments of the program. Raises TypeError if there is no such option."""
    for name in options:
        if name not in Options.__annotations__:
            raise TypeError(f"unexpected keyword argument {name!r}; the options are " + ", ".join(Options.__annotations__))
    arguments = [f"--analyzer={spec}" for spec in _texts(options.get("analyzers"))]
    selected = _texts(options.get("select"))
    if selected:
        arguments.append("--select=" + ",".join((*_ALWAYS_SELECTED, *selected)))
    if (batch := options.get("batch")) is not None:
        arguments.append(f"--batch={batch}")
    if (whole_file := options.get("whole_file")) is not None:
        arguments.append("--whole-file" if whole_file else "--causal")
    if (start := options.get("start")) is not None:
        arguments.append(f"--start={_time(start)}")
    if (duration := options.get("duration")) is not None:
        arguments.append(f"--duration={_time(duration)}")
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
