"""Columns of tables, from `hemiola schema`, and their Arrow types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pyarrow

from ._process import output_of
from ._program import program
from ._records import Feature, Record

Column = Any
"""The type of a column as `hemiola schema --columns` writes it: a name, a list of one type, or an object of types."""

MORE = "more"
"""The column of an event's keys that `hemiola schema` of this program does not list, as JSON: those of a later version."""

_ARROW = {"int64": pyarrow.int64(), "float64": pyarrow.float64(), "bool": pyarrow.bool_()}


def columns(*arguments: str) -> dict[str, Column]:
    """The `columns` of `hemiola schema --columns ARGUMENTS`: generic and nested types."""
    return _columns(program(), arguments)


@lru_cache(maxsize=64)
def _columns(program: str, arguments: tuple[str, ...]) -> dict[str, Column]:
    described: dict[str, Column] = json.loads(output_of(["schema", "--columns", *arguments]))["columns"]
    return described


@lru_cache(maxsize=4)
def _keys(program: str) -> dict[str, list[str]]:
    """The keys of each type of record, without those of analyzers."""
    schema = json.loads(output_of(["schema", "--analyzer", "levels"]))
    return {kind: [key for key in record["properties"] if key != "levels"] for kind, record in schema["$defs"].items()}


def arrow_type(column: Column) -> pyarrow.DataType:
    """The Arrow type of a column. Objects whose keys depend on the run ("json") are strings that contain JSON."""
    if isinstance(column, list):
        return pyarrow.list_(arrow_type(column[0]))
    if isinstance(column, dict):
        return pyarrow.struct([(name, arrow_type(part)) for name, part in column.items()])
    return _ARROW.get(column, pyarrow.string())


def flattened(described: dict[str, Column], prefix: str = "") -> Iterator[tuple[str, Column]]:
    """The columns with dotted names: objects have a column per key, lists of objects are one column."""
    for name, column in described.items():
        if isinstance(column, dict):
            yield from flattened(column, f"{prefix}{name}.")
        else:
            yield prefix + name, column


def batch_columns(features: dict[str, Feature], *, with_file: bool) -> dict[str, Column]:
    """The columns of a batch: those of every batch from `hemiola schema`, those of the analyzers from the header."""
    types = columns("--analyzer", "levels")
    described: dict[str, Column] = {}
    for key in _keys(program())["batch"]:
        if with_file or not key.startswith("file"):
            described[key] = types[key]
    partial = described.pop("partial")
    for feature in features.values():
        analyzer, output = feature.name.split(".", 1)
        kind = "string" if feature.labels else "int64" if feature.is_integer else "float64"
        described.setdefault(analyzer, {})[output] = [kind] if feature.is_list else kind
    described["partial"] = partial
    return described


def event_columns() -> dict[str, Column]:
    """The columns of all records that are no batches."""
    keys = {key for kind, keys in _keys(program()).items() if kind != "batch" for key in keys}
    return {name: column for name, column in columns("--analyzer", "levels").items() if name in keys}


def event_row(record: Record, described: dict[str, Column]) -> dict[str, Any]:
    """The values of a record with dotted names, for `flattened(described)` and the column `more`."""
    more = {key: value for key, value in record.items() if key not in described}
    return {**dict(_row(record, described)), MORE: _value(more or None, "json")}


def _row(record: Record, described: dict[str, Column], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, column in described.items():
        value = record.get(name)
        if isinstance(column, dict):
            yield from _row(value or {}, column, f"{prefix}{name}.")
        else:
            yield prefix + name, _value(value, column)


def _value(value: Any, column: Column) -> Any:
    if value is None:
        return None
    if column == "json":
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(column, list):
        return [_value(item, column[0]) for item in value]
    if isinstance(column, dict):
        return {name: _value(value.get(name), part) for name, part in column.items()}
    return value
