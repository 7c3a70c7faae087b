"""with_pandas.py RECORDS COLUMNS"""

import json
import sys

import pandas as pd

records, columns = sys.argv[1:]
dtypes = json.load(open(columns))["pandas"]

# One flat table: a column per key, `levels.rms_db` for a nested one, missing where a record does not have it.
with open(records) as lines:
    table = pd.json_normalize([json.loads(line) for line in lines])
table = table.astype({name: dtype for name, dtype in dtypes.items() if name in table})

batches = table[table.type == "batch"].set_index("t")
print(batches[["levels.rms_db", "spectrum.centroid_hz"]].describe())

# Lists become a table of their own: a row per batch, a column per band.
bands = pd.DataFrame(batches["spectrum.bands_db"].tolist(), index=batches.index)

end = table[table.type == "end"].iloc[0]
assert table.frame.dtype == "Int64" and table["levels.rms_db"].dtype == "float64"
assert len(batches) == end.batches == 1299
assert end.frames == 1329194
assert (batches.frame.diff().dropna() == 1024).all()
assert bands.shape == (1299, 64) and bands.min().min() >= -120
assert batches["levels.rms_db"].max() < 0
