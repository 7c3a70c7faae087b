"""python -m hemiola_audio to-parquet song.jsonl [-o song.parquet]; python -m hemiola_audio mcp FOLDER"""

from __future__ import annotations

import argparse
import io
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from ._errors import HemiolaError, InputError, PartialInputWarning

# A longer line is no record: the limit bounds the memory for any input.
_LINE_BYTES = 64 << 20


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file of records, plain or compressed with Zstandard.

    An incomplete last line, as of a killed program, is left out with a PartialInputWarning. Raises InputError if the file cannot be read.
    """
    import pyarrow

    try:
        with open(path, "rb") as file:
            is_compressed = file.peek(4)[:4] == b"\x28\xb5\x2f\xfd"
            source = io.BufferedReader(pyarrow.CompressedInputStream(file, "zstd"), 1 << 18) if is_compressed else file
            while line := source.readline(_LINE_BYTES):
                if line.endswith(b"\n"):
                    yield line
                elif len(line) == _LINE_BYTES:
                    raise InputError(f"a line has more than {_LINE_BYTES} bytes")
                else:
                    warnings.warn(f"the last line is incomplete: {len(line)} bytes are left out", PartialInputWarning, stacklevel=2)
    except OSError as fault:
        raise InputError(fault.strerror or str(fault)) from fault


def output_path(source: Path) -> Path:
    """song.jsonl, song.jsonl.zst → song.parquet"""
    name = source.name
    for ending in (".zst", ".jsonl", ".json"):
        name = name.removesuffix(ending)
    return source.with_name(name + ".parquet")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command. Returns its exit code: 0 success, 1 the input is unusable or incomplete, 2 invalid arguments, 3 output failed."""
    parser = argparse.ArgumentParser(prog="python -m hemiola_audio", description="Tools for the records of Hemiola, and for agents.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "to-parquet",
        help="convert records to Parquet",
        description="Converts records (JSON Lines, plain or .zst) to two Parquet files: the batches in song.parquet, all other records in "
        "song.events.parquet. Records of `hemiola analyze --summary` become one file with a row per song. Columns as in "
        "`hemiola schema --columns`, with dotted names. Memory does not depend on the length.",
    )
    command.add_argument("records", type=Path, metavar="RECORDS", help="a file of `hemiola analyze` or `hemiola listen`")
    command.add_argument("-o", "--output", type=Path, metavar="PATH", help="the file for the batches; default: RECORDS with .parquet")
    tools = commands.add_parser(
        "mcp",
        help="serve tools to an agent",
        description="Serves tools to an agent by the Model Context Protocol, on standard input and output: measure a file, a folder, or what "
        "this computer plays, and draw a picture. Needs the package mcp: pip install 'hemiola-audio[mcp]'.",
    )
    tools.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="a folder whose files, also below it, may be read")
    tools.add_argument("--capture", metavar="SPEC", help="hear this capture plugin, as --capture of hemiola; default: what this computer plays")
    options = parser.parse_args(arguments)
    if "folders" in options:
        return serve(options.folders, options.capture)
    return to_parquet(options)


def serve(folders: list[Path], capture: str | None) -> int:
    """Serves tools until standard input ends. Returns the exit code: 0 success, 2 invalid arguments."""
    for folder in folders:
        if not folder.is_dir():
            print(f"hemiola_audio: {folder}: no such folder", file=sys.stderr)
            return 2
    try:
        from ._mcp import server
    except ImportError as fault:
        print(f"hemiola_audio: {fault}; install the tools for agents: pip install 'hemiola-audio[mcp]'", file=sys.stderr)
        return 2
    server(folders, capture).run()
    return 0


def to_parquet(options: argparse.Namespace) -> int:
    """Converts records to Parquet. Returns the exit code of the command."""
    source: Path = options.records
    target: Path = options.output or output_path(source)

    exit_code = 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            from ._parquet import write_parquet

            write_parquet(lines_of(source), target)
        except InputError as fault:
            print(f"hemiola_audio: {source}: {fault}", file=sys.stderr)
            exit_code = 1
        except HemiolaError as fault:
            print(f"hemiola_audio: {fault}", file=sys.stderr)
            exit_code = 1
        except ImportError as fault:
            print(f"hemiola_audio: {fault}", file=sys.stderr)
            exit_code = 2
        except OSError as fault:
            print(f"hemiola_audio: {target}: {fault.strerror or fault}", file=sys.stderr)
            exit_code = 3
    for warning in caught:
        print(f"hemiola_audio: {source}: {warning.message}", file=sys.stderr)
        if issubclass(warning.category, PartialInputWarning):
            exit_code = exit_code or 1
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
