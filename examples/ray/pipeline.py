"""Analyses a corpus on a Ray cluster: one row per file in Parquet.

    python pipeline.py OUT --workers 8 /music                        # sound files of a folder that all machines see
    python pipeline.py s3://bucket/features --workers 64 s3://bucket/music
    python pipeline.py OUT --list paths.txt                          # one path or URL per line

Every worker (a Ray actor) holds one warm process of Hemiola. Scheduling, back-pressure and retries are Ray's.
"""

from __future__ import annotations

import argparse
import os
import posixpath
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import fsspec
import numpy as np
import pyarrow
import ray
import ray.data

import hemiola_audio

ENDINGS = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".aif", ".aiff", ".m4a", ".w64", ".rf64", ".caf", ".au")
# Files per task: a task that fails is repeated as a whole.
FILES_PER_TASK = 8


def sound_files(source: str) -> list[str]:
    """The sound files of a folder, or the file itself. Local paths stay paths; others are URLs."""
    system, path = fsspec.core.url_to_fs(source)
    if not system.isdir(path):
        return [source]
    is_local = "file" in system.protocol
    found = [name for name in system.find(path) if name.lower().endswith(ENDINGS)]
    return sorted(name if is_local else system.unstrip_protocol(name) for name in found)


@contextmanager
def local_file(source: str) -> Iterator[str]:
    """A path from which the program can read. A remote file is copied to a temporary file, which is removed afterwards."""
    if "://" not in source:
        yield source
        return
    with tempfile.NamedTemporaryFile(suffix=posixpath.splitext(source)[1]) as copy:
        with fsspec.open(source, "rb") as remote:
            shutil.copyfileobj(remote, copy, 1 << 20)
        copy.flush()
        yield copy.name


def schema_of(options: dict[str, Any]) -> pyarrow.Schema:
    """The columns for these analyzers: per file and, as lists with one element per batch, per feature."""
    silence = hemiola_audio.analyze(np.zeros(4096, dtype=np.float32), sample_rate=44_100, **options)
    columns = [
        ("file", pyarrow.string()),
        ("error", pyarrow.string()),
        ("duration_s", pyarrow.float64()),
        ("sample_rate", pyarrow.int32()),
        ("channels", pyarrow.int32()),
        ("batch_frames", pyarrow.int32()),
        ("beats", pyarrow.list_(pyarrow.float64())),
        ("onsets", pyarrow.list_(pyarrow.float64())),
    ]
    for name, feature in silence.features.items():
        value = pyarrow.list_(pyarrow.float32()) if feature.is_list else pyarrow.float32()
        columns.append((name, pyarrow.list_(value)))
    return pyarrow.schema(columns)


def row_of(source: str, result: hemiola_audio.Analysis, schema: pyarrow.Schema) -> pyarrow.Table:
    """The row of a file. Features are in single precision: they have at most six digits."""
    values: dict[str, Any] = {
        "file": source,
        "error": result.error,
        "duration_s": result.end["t"] if result.end else None,
        "sample_rate": result.sample_rate,
        "channels": result.header["channels"],
        "batch_frames": result.header["batch_frames"],
        "beats": [beat["t"] for beat in result.events("beat")],
        "onsets": [onset["t"] for onset in result.events("onset")],
    }
    batches = result.table()
    columns = []
    for field in schema:
        if field.name in values:
            columns.append(pyarrow.array([values[field.name]], type=field.type))
        else:
            items = batches[field.name].combine_chunks().cast(field.type.value_type)
            columns.append(pyarrow.ListArray.from_arrays(pyarrow.array([0, len(items)], pyarrow.int32()), items, type=field.type))
    return pyarrow.Table.from_arrays(columns, schema=schema)


class Analyze:
    """The worker: a warm process of Hemiola for the life of the actor."""

    def __init__(self, options: dict[str, Any], schema: pyarrow.Schema) -> None:
        self.schema = schema
        self.worker = hemiola_audio.Worker(**options)

    def __call__(self, batch: dict[str, np.ndarray]) -> pyarrow.Table:
        return pyarrow.concat_tables([self.row(str(source)) for source in batch["file"]])

    def row(self, source: str) -> pyarrow.Table:
        try:
            with local_file(source) as path, warnings.catch_warnings():
                # A partly readable file: the reason is in the column `error`.
                warnings.simplefilter("ignore", hemiola_audio.PartialInputWarning)
                return row_of(source, self.worker.analyze(path), self.schema)
        except (hemiola_audio.InputError, hemiola_audio.CrashError, FileNotFoundError, PermissionError) as fault:
            # A bad file is a row, not the end of the run. All other exceptions repeat the task or end the run.
            row = {"file": source, "error": str(fault) or type(fault).__name__}
            return pyarrow.Table.from_pylist([row], schema=self.schema)


def analyze_corpus(files: ray.data.Dataset, output: str, workers: int, options: dict[str, Any]) -> None:
    """Analyses the files of the column `file` and writes Parquet files into a folder, which must be new or empty."""
    context = ray.data.DataContext.get_current()
    # A network error of fsspec is an OSError: Ray repeats the task.
    context.actor_task_retry_on_errors = [OSError]
    rows = files.map_batches(
        Analyze,
        fn_constructor_args=(options, schema_of(options)),
        batch_size=FILES_PER_TASK,
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=2),
    )
    rows.write_parquet(output, mode="error")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", help="a new folder, local or a URL, for the Parquet files")
    parser.add_argument("sources", nargs="*", help="files or folders, local or URLs")
    parser.add_argument("--list", help="a file with one path or URL per line; Ray reads it in parts")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="number of workers, each on one processor")
    parser.add_argument("--analyzer", action="append", help="as of `hemiola analyze`")
    parser.add_argument("--select", action="append", help="as of `hemiola analyze`")
    parser.add_argument("--causal", action="store_true", help="what a live run would find")
    options = parser.parse_args()
    if bool(options.list) == bool(options.sources):
        parser.error("name sources, or --list FILE")
    settings = {"analyzers": options.analyzer, "select": options.select, "whole_file": False if options.causal else None}
    if options.list:
        files = ray.data.read_text(options.list).rename_columns({"text": "file"})
    else:
        found = [path for source in options.sources for path in sound_files(source)]
        blocks = max(1, min(len(found) // FILES_PER_TASK, 100 * options.workers))
        files = ray.data.from_items([{"file": path} for path in found], override_num_blocks=blocks)
    analyze_corpus(files, options.output, options.workers, settings)


if __name__ == "__main__":
    main()
