"""Compares a summary record with the statistics that numpy computes from the batch records of the same file.

Arguments: the batch records, the summary record. Mean and deviation must agree to the rounding of the records, percentiles within a rank
error of 0.5 %.
"""

import json
import sys

import numpy

batches = [record for record in map(json.loads, open(sys.argv[1])) if record["type"] == "batch"]
summary = json.loads(open(sys.argv[2]).readline())
compared = 0


def check(name, values, statistics, element):
    def statistic(key):
        value = statistics[key]
        return value if element is None else value[element]

    global compared
    values = numpy.array([value for value in values if value is not None], dtype=float)
    if len(values) == 0:
        assert statistic("mean") is None and statistic("p50") is None, name
        return
    # Both sides are rounded: to three decimals, or to six digits.
    tolerance = 1.1e-3 if any(unit in name for unit in ("_db", "_lufs", "_lu")) else 2e-2 if name.endswith(("_hz", "bpm")) else 3e-6 * numpy.abs(values).max() + 2e-6
    assert abs(statistic("mean") - values.mean()) <= tolerance, (name, statistic("mean"), values.mean())
    assert abs(statistic("stdev") - values.std()) <= tolerance, (name, statistic("stdev"), values.std())
    for key, share in (("p10", 0.1), ("p50", 0.5), ("p90", 0.9)):
        first = (values < statistic(key) - tolerance).sum() + 1
        last = (values <= statistic(key) + tolerance).sum()
        rank, error = share * len(values), 0.005 * len(values)
        assert first - error <= max(rank, 1) and rank <= last + error, (name, key, first, last, rank)
    compared += 1


for analyzer, features in summary["features"].items():
    for feature, statistics in features.items():
        name = f"{analyzer}.{feature}"
        rows = [batch[analyzer][feature] for batch in batches]
        if isinstance(rows[0], list):
            nulls = sum(value is None for row in rows for value in row)
            for element in range(len(rows[0])):
                check(name, [row[element] for row in rows], statistics, element)
        else:
            nulls = sum(value is None for value in rows)
            check(name, rows, statistics, None)
        assert statistics["nulls"] == nulls, (name, statistics["nulls"], nulls)
assert compared > 80, compared
print(f"compared {compared} columns of {len(batches)} batches")
