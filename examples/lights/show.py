#!/usr/bin/env python3
"""Shows the pixels of DDP messages in the terminal: as an LED strip would.

    show.py PORT [FRAMES]     ends after FRAMES frames; default: never
"""

import socket
import sys

receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", int(sys.argv[1])))
frames = int(sys.argv[2]) if len(sys.argv) > 2 else 0
pixels = bytearray()
count = 0
while not frames or count < frames:
    message = receiver.recv(2048)
    # Version 1; bytes 4...7 are the offset, 8 and 9 the length of the data.
    if len(message) < 10 or message[0] >> 6 != 1:
        continue
    offset, length = int.from_bytes(message[4:8], "big"), int.from_bytes(message[8:10], "big")
    pixels[offset:offset + length] = message[10:10 + length]
    # The last message of a frame has the flag that shows it.
    if message[0] & 1:
        count += 1
        colors = [pixels[place:place + 3] for place in range(0, len(pixels) - 2, 3)]
        print("\r" + "".join(f"\x1b[48;2;{red};{green};{blue}m " for red, green, blue in colors) + "\x1b[0m", end="", flush=True)
print()
