#!/usr/bin/env python3
"""Runs a program that sends MIDI to a pseudo-terminal, and prints the tempo of its clock: tempo.py COMMAND...

{port} in the command is replaced by the path of the pseudo-terminal.
"""

import os
import pty
import select
import subprocess
import sys
import time

PULSES_PER_BEAT = 24
NAMES = {0xFA: "start", 0xFB: "continue", 0xFC: "stop"}
# Data bytes after a status byte.
LENGTHS = {0x80: 2, 0x90: 2, 0xA0: 2, 0xB0: 2, 0xC0: 1, 0xD0: 1, 0xE0: 2, 0xF2: 2, 0xF3: 1}


class Receiver:
    def __init__(self):
        self.message = []
        self.pulses = []
        self.start = None

    def byte(self, byte, now):
        if byte == 0xF8:
            self.pulse(now)
        elif byte >= 0xF8:
            self.pulses = []
            print(NAMES.get(byte, hex(byte)), flush=True)
        elif byte >= 0x80:
            self.message = [byte]
        elif self.message:
            self.message.append(byte)
            status = self.message[0]
            if len(self.message) > LENGTHS.get(status if status >= 0xF0 else status & 0xF0, 0):
                print(" ".join(f"{value:02X}" for value in self.message), flush=True)
                # Running status: the next message may leave its status byte out.
                self.message = [status]

    def pulse(self, now):
        self.start = self.start or now
        self.pulses.append(now)
        if len(self.pulses) > PULSES_PER_BEAT and len(self.pulses) % PULSES_PER_BEAT == 1:
            beat = self.pulses[-1] - self.pulses[-1 - PULSES_PER_BEAT]
            print(f"{now - self.start:7.2f} s  {60 / beat:6.1f} BPM", flush=True)


receiver = Receiver()
main, sender = pty.openpty()
process = subprocess.Popen([word.replace("{port}", os.ttyname(sender)) for word in sys.argv[1:]])
while process.poll() is None or select.select([main], [], [], 0)[0]:
    if select.select([main], [], [], 0.2)[0]:
        data, arrival = os.read(main, 4096), time.monotonic()
        for value in data:
            receiver.byte(value, arrival)
sys.exit(process.returncode)
