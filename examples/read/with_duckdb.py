"""with_duckdb.py RECORDS COLUMNS"""

import json
import sys

import duckdb

records, columns = sys.argv[1:]
types = json.load(open(columns))["duckdb"]

# The types are passed, so that the result does not depend on the first records.
lines = duckdb.read_json(records, format="newline_delimited", columns=types)

print(duckdb.sql("""
    select t, levels.rms_db, spectrum.centroid_hz
    from lines where type = 'batch' order by levels.rms_db desc limit 3
"""))

# A row per band, with its lower edge from the header: spectrum is the second analyzer, its bands the first output.
print(duckdb.sql("""
    with edges as (
        select unnest(analyzers[2].outputs[1].edges_hz[1:64]) as hz, unnest(range(1, 65)) as band
        from lines where type = 'header'
    ), bands as (
        select unnest(spectrum.bands_db) as db, unnest(range(1, 65)) as band
        from lines where type = 'batch'
    )
    select hz, round(10 * log10(avg(pow(10, db / 10))), 1) as mean_db
    from edges join bands using (band) group by band, hz order by mean_db desc limit 3
"""))


def value(query):
    return duckdb.sql(query).fetchall()[0][0]


assert value("select count(*) from lines where type = 'batch'") == value("select batches from lines where type = 'end'") == 1299
assert value("select frames from lines where type = 'end'") == 1329194
assert value("select max(frame) from lines") == 1298 * 1024
assert value("select min(len(spectrum.bands_db)) from lines where type = 'batch'") == 64
assert value("select typeof(levels.rms_db) from lines limit 1") == "DOUBLE"
assert value("select summaries->>'$.levels.peak_db' from lines where type = 'end'") is not None
