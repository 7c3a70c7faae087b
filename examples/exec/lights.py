"""A sink: reads JSON Lines from standard input and prints one line per beat, where a real program would switch a lamp.

    hemiola analyze song.flac --select beat --sink 'exec:python3 -u lights.py'
"""

import json
import sys

for line in sys.stdin:
    record = json.loads(line)
    # With --select beat there are also the batches, with the features of the analyzer beat.
    if record["type"] == "beat":
        color = "red" if record["position"] == 1 else "white"
        print(f"{record['t']:7.3f} s  {color}", flush=True)
