"""A sink: reads JSON Lines from standard input and prints a line when a beat sounds, where a real program would switch a lamp.

    hemiola listen --sink 'exec:python3 -u lights.py,select=beat'
"""

import json
import sys
import time

for line in sys.stdin:
    record = json.loads(line)
    # There are also the header and the end of the stream.
    if record["type"] == "beat":
        time.sleep(max(0, record["due_in_s"]))
        color = "red" if record["position"] == 1 else "white"
        print(f"{record['t']:7.3f} s  {color}", flush=True)
