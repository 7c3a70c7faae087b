"""Summaries of whole files: flat, with dotted names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ._errors import InputError, PartialInputWarning, error, warn
from ._input import Input
from ._options import Options, option_arguments
from ._process import Process
from ._records import decode

if TYPE_CHECKING:
    import pandas


def summary_options(options: Options) -> Options:
    """The options of a summary: also key and loudness, unless the analyzers are named; of the whole file; all features."""
    return {**options, "analyzers": options.get("analyzers") or ("+loudness", "+musical-key"), "select": None, "whole_file": None}


def summary_of(input: Input) -> dict[str, Any]:
    """The summary of one input."""
    with closing(input.process(summary_options(input.options), ["--summary"])) as process:
        line = process.read_line()
        exit_code, message = process.wait()
    if not line:
        raise error(exit_code, message) if exit_code else InputError("the program wrote no summary")
    return _row(line)


def folder_summaries(folder: str, options: Options, jobs: int) -> pandas.DataFrame:
    """A row per sound file in a folder and below it."""
    try:
        import pandas
    except ImportError as fault:
        raise ImportError("the table of a folder needs pandas: pip install pandas pyarrow") from fault
    arguments = ["analyze", "--summary", *option_arguments(summary_options(options)), f"--jobs={jobs}", "--", folder]
    with closing(Process(arguments)) as process:
        rows = [_row(line) for line in _shown(iter(process.read_line, b""), folder)]
        exit_code, message = process.wait()
    # 1: some files failed or were incomplete, which their rows tell.
    if exit_code > 1 or exit_code < 0 or not rows:
        raise error(exit_code, message)
    failed = sum(row["error"] is not None for row in rows)
    if failed:
        text = f"{folder}: {failed} of {len(rows)} files failed or were incomplete; their rows say why in the column error"
        warn(text, PartialInputWarning)
    return pandas.DataFrame(rows)


def _shown(lines: Iterator[bytes], folder: str) -> Iterator[bytes]:
    """The lines, with a progress bar where tqdm is installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return lines
    return iter(tqdm(lines, desc=folder, unit=" files"))


def _row(line: bytes) -> dict[str, Any]:
    record = decode(line)
    del record["type"]
    return dict(_leaves(record, ""))


def _leaves(record: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
