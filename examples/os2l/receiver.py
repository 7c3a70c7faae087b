#!/usr/bin/env python3
"""Receives OS2L as a program for lights does: receiver.py [PORT]. Prints beats and buttons; ends with the connection."""

import json
import socket
import sys
import time

server = socket.create_server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 9996))
print("listening", flush=True)
connection, _ = server.accept()

# The specification has no separator between messages: each is decoded up to its end.
decoder = json.JSONDecoder()
text, last = "", None
while data := connection.recv(4096):
    text += data.decode()
    while text := text.lstrip():
        try:
            message, end = decoder.raw_decode(text)
        except json.JSONDecodeError:
            break  # The rest of the message has not arrived.
        text, now = text[end:], time.monotonic()
        if message["evt"] == "beat":
            interval = f"{now - last:.3f} s" if last else "-"
            last = now
            print(f"beat {message['pos']:4d}{' (new count)' if message['change'] else ''}  {message['bpm']:6.2f} BPM  after {interval}", flush=True)
        elif message["evt"] == "btn":
            print(f"button {message['name']} {message['state']}", flush=True)
