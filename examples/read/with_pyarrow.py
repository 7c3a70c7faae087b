"""with_pyarrow.py RECORDS COLUMNS"""

import json
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

records, columns = sys.argv[1:]
types = json.load(open(columns))["columns"]


def dtype(column):
    """The Arrow type of a column; tables whose keys depend on the data ("json") are left out."""
    if isinstance(column, list):
        return pa.list_(dtype(column[0]))
    if isinstance(column, dict):
        return pa.struct([(name, dtype(part)) for name, part in column.items() if part != "json"])
    return pa.type_for_alias(column)


schema = pa.schema([(name, dtype(column)) for name, column in types.items() if column != "json"])
options = pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
lines = pa.json.read_json(records, parse_options=options)

batches = lines.filter(pc.equal(lines["type"], "batch"))
rms = pc.struct_field(batches["levels"], "rms_db")
loudest = pc.index(rms, pc.max(rms)).as_py()
print(f"loudest at {batches['t'][loudest]} s: {rms[loudest]} dB")

bands = pc.struct_field(batches["spectrum"], "bands_db")
end = lines.filter(pc.equal(lines["type"], "end")).to_pylist()[0]
assert lines.schema.field("frame").type == pa.int64() and rms.type == pa.float64()
assert len(batches) == end["batches"] == 1299
assert end["frames"] == 1329194
assert batches["frame"][-1].as_py() == 1298 * 1024
assert pc.unique(pc.list_value_length(bands)).to_pylist() == [64]
assert pc.min(pc.list_flatten(bands)).as_py() >= -120
