"""An analyzer: the zero-crossing rate of each block, and an event where it rises above a half.

    hemiola analyze song.flac --analyzer 'exec:python3 zero_crossings.py,as=crossings'
"""

import array
import json
import sys

# The first line describes the stream; the first line of the answer declares the outputs.
start = json.loads(sys.stdin.buffer.readline())
print(
    json.dumps({
        "outputs": [{
            "name": "rate", "unit": "ratio", "minimum": 0, "maximum": 1, "aggregation": "mean",
            "description": "Share of neighbouring samples with different signs."}],
        "events": [{"name": "noisy", "unit": "ratio", "description": "The rate rises above 0.5."}],
    }),
    flush=True)

size = 4 * start["channels"] * start["block_frames"]
frame = 0
is_noisy = False
while len(data := sys.stdin.buffer.read(size)) == size:
    samples = array.array("f", data)
    if sys.byteorder == "big":
        samples.byteswap()
    rate = sum((a < 0) != (b < 0) for a, b in zip(samples, samples[1:])) / len(samples)
    if rate > 0.5 and not is_noisy:
        print(json.dumps({"event": "noisy", "frame": frame, "values": [rate]}))
    is_noisy = rate > 0.5
    print(json.dumps({"rate": rate}), flush=True)
    frame += start["block_frames"]
