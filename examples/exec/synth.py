"""A capture: two seconds of a sine of 440 Hz, as raw samples on standard output.

    hemiola analyze --capture 'exec:python3 synth.py,raw=f32le:48000:1'
"""

import math
import struct
import sys

for frame in range(2 * 48_000):
    sys.stdout.buffer.write(struct.pack("<f", 0.5 * math.sin(2 * math.pi * 440 * frame / 48_000)))
