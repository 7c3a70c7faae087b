"""Exceptions and warnings. Their text is the message of the program."""

from __future__ import annotations

import signal
import sys
import warnings
from types import FrameType


class HemiolaError(Exception):
    """The program failed. `exit_code` is its exit code; negative: the signal that ended it; None: it did not start or still runs."""

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code

    def __reduce__(self) -> tuple[type[HemiolaError], tuple[object, ...]]:
        return type(self), (self.message, self.exit_code)


class InputError(HemiolaError):
    """The input cannot be read, or is not audio (exit code 1)."""


class FolderError(InputError, IsADirectoryError):
    """The path is that of a folder."""

    def __init__(self, path: str) -> None:
        hint = f"analyze_many({path!r})"
        super().__init__(f"{path}: is a folder, not a file; to analyse the files in it: {hint}", 1)
        self._path = path

    def __reduce__(self) -> tuple[type[HemiolaError], tuple[object, ...]]:
        return type(self), (self._path,)


class UsageError(HemiolaError):
    """An option or a setting is invalid (exit code 2)."""


class OutputError(HemiolaError):
    """The output could not be written (exit code 3)."""


class CrashError(HemiolaError):
    """The program ended before its output was complete, for example by a signal."""


class ProgramNotFoundError(HemiolaError):
    """The program `hemiola` was not found."""


class HemiolaWarning(UserWarning):
    """A warning of the program, for example of samples that are NaN."""


class PartialInputWarning(HemiolaWarning):
    """The input was analysed in part: it is truncated or damaged."""


def warn(message: str, category: type[HemiolaWarning]) -> None:
    """Warns at the line that has called the package, whatever is between."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


_BY_EXIT_CODE: dict[int, type[HemiolaError]] = {1: InputError, 2: UsageError, 3: OutputError}


def error(exit_code: int, message: str) -> HemiolaError:
    """The exception for an exit code, with the program's message."""
    if exit_code in _BY_EXIT_CODE:
        return _BY_EXIT_CODE[exit_code](message or f"hemiola: exit code {exit_code} without a message", exit_code)
    if exit_code < 0:
        try:
            reason = f"was ended by {signal.Signals(-exit_code).name}"
        except ValueError:
            reason = f"was ended by signal {-exit_code}"
    else:
        reason = f"ended with exit code {exit_code}"
    return CrashError(f"hemiola {reason} before its output was complete" + (f": {message}" if message else ""), exit_code)
