#!/usr/bin/env python3
"""Reads samples and beats from Hemiola's socket: levels.py PATH [SECONDS]. Prints a meter and every beat."""

import json
import math
import socket
import sys

path, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else math.inf
client = socket.socket(socket.AF_UNIX)
client.connect(path)
lines = client.makefile("r", encoding="utf-8", newline="\n")

hello = json.loads(lines.readline())
rate = hello["sample_rate"]
print(f"{hello['source']['name']}: {rate} Hz, {hello['channels']} channels, Hemiola {hello['hemiola']}")
# Not through a file for both directions: a write discards what such a file has read ahead.
client.sendall(json.dumps({"type": "subscribe", "streams": ["pushSamples", "beat"], "id": 1}).encode() + b"\n")

first = None
for line in lines:
    message = json.loads(line)
    if message["type"] == "pushSamples":
        samples, frame = message["samples"], message["frame"]
        assert len(samples) == 2048, "1024 frames of two channels"
        first = frame if first is None else first
        rms = math.sqrt(sum(x * x for x in samples) / len(samples))
        print(f"{frame / rate:8.2f} s  {20 * math.log10(rms) if rms else -120:7.2f} dB  {'#' * int(60 * min(rms * 2, 1))}")
        if (frame - first) / rate >= seconds:
            break
    elif message["type"] == "beat":
        print(f"{message['t']:8.2f} s  beat, {message['bpm']} bpm")
