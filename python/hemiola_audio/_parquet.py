"""Records as Arrow tables and Parquet files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

try:
    import pyarrow
    import pyarrow.compute
    import pyarrow.json
    import pyarrow.parquet
except ImportError as fault:
    raise ImportError("tables and Parquet files need pyarrow: pip install pyarrow") from fault

from ._columns import MORE, Column, arrow_type, batch_columns, columns, event_columns, event_row, flattened
from ._errors import InputError
from ._options import PathLike
from ._records import BATCH_PREFIX, SUMMARY_PREFIX, Feature, Record, decode, features_of

HEADER_KEY = b"hemiola.header"
"""The key of the header, as JSON, in the metadata of tables and files."""

HUGGINGFACE_KEY = b"huggingface"
"""The key under which `datasets` of Hugging Face looks for the types of columns that Arrow does not have."""

SCHEMA = 2
"""The version of the records that are read."""

# Lines that are parsed at once, and rows per row group: they bound the memory.
_PARSED_LINES = 1024
_PARSED_BYTES = 4 << 20
_ROW_GROUP_BYTES = 16 << 20


class _Batches:
    """Parses batch lines. The columns are those of the first header."""

    def __init__(self, header: Record, metadata: dict[bytes, bytes]) -> None:
        features = features_of(header)
        described = batch_columns(features, with_file="file" in header)
        if classes := _classes(features):
            metadata = {**metadata, HUGGINGFACE_KEY: _json({"info": {"features": classes}})}
        self._options = pyarrow.json.ParseOptions(
            explicit_schema=pyarrow.schema([(name, arrow_type(column)) for name, column in described.items()]),
            unexpected_field_behavior="error",
        )
        self.schema = pyarrow.schema(
            [(name, arrow_type(column)) for name, column in flattened(described) if name != "type"], metadata=metadata
        )

    def table(self, lines: list[bytes]) -> pyarrow.Table:
        if not lines:
            return self.schema.empty_table()
        data = b"".join(lines)
        try:
            nested = pyarrow.json.read_json(
                pyarrow.BufferReader(data),
                read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
                parse_options=self._options,
            )
        except pyarrow.ArrowInvalid as fault:
            raise InputError(
                f"a batch does not have the features of the first header; convert runs with different analyzers separately: {fault}"
            ) from fault
        return nested.drop_columns(["type"]).flatten().cast(self.schema).replace_schema_metadata(self.schema.metadata)


class _Events:
    """Converts all records that are not batches."""

    def __init__(self, metadata: dict[bytes, bytes]) -> None:
        self._described: dict[str, Column] = event_columns()
        self.schema = pyarrow.schema(
            [(name, arrow_type(column)) for name, column in (*flattened(self._described), (MORE, "json"))], metadata=metadata
        )

    def table(self, lines: list[bytes]) -> pyarrow.Table:
        rows = [event_row(decode(line), self._described) for line in lines]
        return pyarrow.Table.from_pylist(rows, schema=self.schema)


def batch_table(lines: Iterable[bytes]) -> pyarrow.Table:
    """A row per batch."""
    header, all_lines = _split_header(iter(lines))
    batches = _Batches(header, _metadata(header))
    parts = [batches.table([line for line in part if line.startswith(BATCH_PREFIX)]) for part in _parts(all_lines)]
    return pyarrow.concat_tables(parts).combine_chunks()


def expanded(table: pyarrow.Table, features: dict[str, Feature]) -> pyarrow.Table:
    """A table of batches with a column per value of a list."""
    columns: dict[str, pyarrow.ChunkedArray] = {}
    for name in table.column_names:
        if name in features and features[name].is_list:
            for index in range(features[name].count):
                columns[f"{name}[{index}]"] = pyarrow.compute.list_element(table[name], index)
        else:
            columns[name] = table[name]
    return pyarrow.table(columns, metadata=table.schema.metadata)


def event_table(lines: Iterable[bytes]) -> pyarrow.Table:
    """A row per record that is not a batch."""
    header, all_lines = _split_header(iter(lines))
    return _Events(_metadata(header)).table([line for line in all_lines if not line.startswith(BATCH_PREFIX)])


def write_parquet(lines: Iterable[bytes], path: PathLike) -> None:
    """Writes batches to `path` and all other records to the file beside it, in bounded memory. Summaries are rows of `path` alone.

    The files are created when they are complete. Raises InputError if the lines are not records, OSError if a file cannot be written.
    """
    lines = iter(lines)
    first = next(lines, b"")
    lines = chain([first] if first else [], lines)
    target = Path(path)
    if first.startswith(SUMMARY_PREFIX):
        table = summary_table(lines)
        with _File(target, table.schema) as file:
            file.write(table)
            file.finish()
            file.publish()
        return
    header, all_lines = _split_header(lines)
    metadata = _metadata(header)
    batches, events = _Batches(header, metadata), _Events(metadata)
    with _File(target, batches.schema) as batch_file, _File(events_path(target), events.schema) as event_file:
        for part in _parts(all_lines):
            batch_file.write(batches.table([line for line in part if line.startswith(BATCH_PREFIX)]))
            event_file.write(events.table([line for line in part if not line.startswith(BATCH_PREFIX)]))
        batch_file.finish()
        event_file.finish()
        batch_file.publish()
        event_file.publish()


def summary_table(lines: Iterable[bytes]) -> pyarrow.Table:
    """A row per record of `hemiola analyze --summary`, with dotted names; null where a record does not have a value."""
    rows = [dict(flattened(decode(line))) for line in lines]
    known = dict(flattened(columns("--summary")))
    fields = []
    for name in dict.fromkeys(name for row in rows for name in row if name != "type"):
        values = pyarrow.array([row.get(name) for row in rows])
        # Without any value, the type is that of the default analyzers.
        type_ = arrow_type(known.get(name, "float64")) if _is_null(values.type) else values.type
        fields.append((name, type_))
    return pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(fields))


def _is_null(type_: pyarrow.DataType) -> bool:
    return bool(pyarrow.types.is_null(type_) or pyarrow.types.is_list(type_) and pyarrow.types.is_null(type_.value_type))


def events_path(path: Path) -> Path:
    """song.parquet → song.events.parquet"""
    stem = path.name[: -len(".parquet")] if path.name.lower().endswith(".parquet") else path.name
    return path.with_name(stem + ".events.parquet")


class _File:
    """A Parquet file that has its name when it is complete."""

    def __init__(self, path: Path, schema: pyarrow.Schema) -> None:
        self._path = path
        self._schema = schema
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
        self._tables: list[pyarrow.Table] = []
        self._bytes = 0

    def __enter__(self) -> _File:
        self._writer = pyarrow.parquet.ParquetWriter(self._temporary, self._schema, compression="zstd")
        return self

    def __exit__(self, *fault: object) -> None:
        try:
            self._writer.close()
        finally:
            self._temporary.unlink(missing_ok=True)

    def write(self, table: pyarrow.Table) -> None:
        self._tables.append(table)
        self._bytes += table.nbytes
        if self._bytes >= _ROW_GROUP_BYTES:
            self._flush()

    def finish(self) -> None:
        if self._tables:
            self._flush()
        self._writer.close()

    def publish(self) -> None:
        os.replace(self._temporary, self._path)

    def _flush(self) -> None:
        table = pyarrow.concat_tables(self._tables)
        self._tables, self._bytes = [], 0
        if table.num_rows:
            self._writer.write_table(table, row_group_size=table.num_rows)


def _split_header(lines: Iterator[bytes]) -> tuple[Record, Iterator[bytes]]:
    """The first record, which must be a header, and all lines including it."""
    first = next(lines, None)
    if first is None:
        raise InputError("the file is empty")
    header = decode(first)
    if header["type"] != "header":
        raise InputError("the first record is not a header, which describes the columns; select header too: --select header,…")
    if header["schema"] != SCHEMA:
        raise InputError(f"schema {header['schema']} is not supported: another version of Hemiola wrote it; this one reads schema {SCHEMA}")

    def chained() -> Iterator[bytes]:
        yield first
        yield from lines

    return header, chained()


def _metadata(header: Record) -> dict[bytes, bytes]:
    return {HEADER_KEY: _json(header)}


def _classes(features: dict[str, Feature]) -> Record:
    """The numbers of categories as `ClassLabel` of `datasets`, which knows the label of each."""
    return {f"{name}_number": {"names": feature.labels, "_type": "ClassLabel"} for name, feature in features.items() if feature.labels}


def _json(value: Record) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _parts(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Lists of consecutive lines, of bounded size."""
    part: list[bytes] = []
    size = 0
    for line in lines:
        part.append(line)
        size += len(line)
        if len(part) >= _PARSED_LINES or size >= _PARSED_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part
