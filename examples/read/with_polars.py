"""with_polars.py RECORDS COLUMNS"""

import json
import sys

import polars as pl

records, columns = sys.argv[1:]
types = json.load(open(columns))["columns"]
plain = {"int64": pl.Int64, "float64": pl.Float64, "string": pl.String, "bool": pl.Boolean}


def dtype(column):
    """The Polars type of a column; None for tables whose keys depend on the data ("json")."""
    if isinstance(column, list):
        return pl.List(dtype(column[0]))
    if isinstance(column, dict):
        return pl.Struct({name: dtype(part) for name, part in column.items() if part != "json"})
    return plain.get(column)


schema = {name: dtype(column) for name, column in types.items() if column != "json"}
lines = pl.read_ndjson(records, schema=schema)

batches = lines.filter(pl.col("type") == "batch").select("frame", "t", "levels", "spectrum")
print(
    batches.with_columns(
        rms_db=pl.col("levels").struct.field("rms_db"),
        low_db=pl.col("spectrum").struct.field("bands_db").list.head(8).list.mean(),
    )
    .sort("rms_db", descending=True)
    .select("t", "rms_db", "low_db")
    .head(3)
)

levels = batches.unnest("levels")
end = lines.filter(pl.col("type") == "end").row(0, named=True)
assert batches.schema["frame"] == pl.Int64 and levels.schema["channel_rms_db"] == pl.List(pl.Float64)
assert len(batches) == end["batches"] == 1299
assert end["frames"] == 1329194
assert batches["frame"].diff().drop_nulls().unique().to_list() == [1024]
assert levels["channel_rms_db"].list.len().unique().to_list() == [2]
assert batches["spectrum"].struct.field("bands_db").list.min().min() >= -120
