"""Records: decoded lines, and the features that a header declares."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from ._errors import InputError

Record = dict[str, Any]
"""One line of the output, decoded: `hemiola schema` describes the keys."""

BATCH_PREFIX = b'{"type":"batch"'
"""The first bytes of every batch line: `type` is the first key of every record."""

SUMMARY_PREFIX = b'{"type":"summary"'
"""The first bytes of every line of `hemiola analyze --summary`."""


@dataclass(frozen=True)
class Feature:
    """A feature as the header declares it."""

    name: str
    """The dotted name: `spectrum.centroid_hz`."""
    unit: str
    count: int
    """The number of values per batch."""
    is_list: bool
    """Whether the value is a list, even with one element."""
    description: str
    minimum: float | None = None
    maximum: float | None = None
    edges_hz: tuple[float, ...] | None = None
    """The edges of the bands in hertz: one more than there are bands."""
    labels: tuple[str, ...] | None = None
    """Of a category: the texts that occur. The feature with the ending `_number` has the number of each, from 0 on."""
    is_integer: bool = False
    """Whether the values are whole numbers."""
    center_offset_s: float | None = None
    """The time of the window's centre relative to the first frame of the batch, in seconds."""


def decode(line: bytes) -> Record:
    """Decodes a line. Raises InputError if it is not a record."""
    try:
        record = json.loads(line)
    except ValueError as fault:
        raise InputError(f"not a record: {fault}: {line[:80]!r}") from fault
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        raise InputError(f"not a record: {line[:80]!r}")
    return record


def features_of(header: Record) -> dict[str, Feature]:
    """The features of a header, by dotted name, in the order of the records."""
    features: dict[str, Feature] = {}
    for analyzer in header["analyzers"]:
        for output in analyzer["outputs"]:
            name = f"{analyzer['id']}.{output['name']}"
            edges, labels = output.get("edges_hz"), output.get("labels")
            features[name] = feature = Feature(
                name=name,
                unit=output["unit"],
                count=output["count"],
                is_list=output["list"],
                description=output["description"],
                minimum=output.get("minimum"),
                maximum=output.get("maximum"),
                edges_hz=None if edges is None else tuple(edges),
                labels=None if labels is None else tuple(labels),
                center_offset_s=output.get("center_offset_s"),
            )
            if labels is not None:
                number = f"{name}_number"
                features[number] = replace(feature, name=number, labels=None, is_integer=True)
    return features
