#!/usr/bin/env python3
"""Measures the CPU time of network outputs, in percent of one core at 43 messages a second.

    network.py HEMIOLA [--seconds N] [--rounds N] [--limit PERCENT]

Each output sends to a socket of this script, which reads everything. Its cost is the CPU time of the process in real time with the output
minus that of a process whose only output is a file; figures are medians of the rounds. The same analyzers run in both. Exit status 1 if a
figure exceeds the limit.
"""

import argparse
import pathlib
import socket
import statistics
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
MUSIC = HERE.parent.parent / "examples" / "music" / "minuet.flac"


def cpu_time(pid):
    """CPU time of all threads so far, in seconds, from schedstat with a resolution of nanoseconds."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


class Receiver:
    """A UDP socket that counts datagrams, or a TCP socket that counts reads; it looks 50 times a second."""

    def __init__(self, kind):
        self.socket = socket.socket(socket.AF_INET, kind)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.count = 0
        if kind == socket.SOCK_STREAM:
            self.socket.listen()
        threading.Thread(target=self.read, args=(kind,), daemon=True).start()

    def read(self, kind):
        while True:
            connection = self.socket.accept()[0] if kind == socket.SOCK_STREAM else self.socket
            connection.settimeout(0)
            while True:
                # To wake a receiver that waits on the same computer would count for the sender; in a network it is another one.
                time.sleep(0.02)
                try:
                    while data := connection.recv(1 << 16):
                        self.count += 1
                except BlockingIOError:
                    continue
                except OSError:
                    break
                if not data:
                    break


def measure(hemiola, sinks, seconds):
    """The CPU time per second of a run with these sinks."""
    options = [item for sink in sinks for item in ("--sink", sink)]
    process = subprocess.Popen(
        [hemiola, "analyze", *[str(MUSIC)] * 10, "--realtime", "--quiet", "-o", "/dev/null", *options], stdout=subprocess.DEVNULL)
    try:
        time.sleep(1.5)
        start, cpu = time.monotonic(), cpu_time(process.pid)
        time.sleep(seconds)
        return (cpu_time(process.pid) - cpu) / (time.monotonic() - start)
    finally:
        process.terminate()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hemiola")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=0.3)
    arguments = parser.parse_args()
    datagrams, stream = Receiver(socket.SOCK_DGRAM), Receiver(socket.SOCK_STREAM)
    to = f"127.0.0.1:{datagrams.port}"
    outputs = {
        "osc, all features": f"osc:{to}",
        "osc, TCP": f"osc:tcp://127.0.0.1:{stream.port}",
        "osc, a map": f"osc:{to},map=touchdesigner",
        "wled": f"wled:{to}",
        "ddp, 300 pixels": f"ddp:{to},pixels=300",
        "sacn, 170 pixels": f"sacn:{to},pixels=170",
        "artnet, 170 pixels": f"artnet:{to},pixels=170",
    }
    figures = {name: [] for name in outputs}
    for _ in range(arguments.rounds):
        base = measure(arguments.hemiola, [], arguments.seconds)
        for name, sink in outputs.items():
            before = datagrams.count + stream.count
            cost = measure(arguments.hemiola, [sink], arguments.seconds) - base
            if datagrams.count + stream.count - before < 40 * arguments.seconds:
                sys.exit(f"network.py: {name}: too few messages were received")
            figures[name].append(100 * cost)
    worst = 0.0
    for name, values in figures.items():
        worst = max(worst, statistics.median(values))
        print(f"{name:20} {statistics.median(values):6.3f} %  ({min(values):.3f}...{max(values):.3f})")
    if worst > arguments.limit:
        sys.exit(f"network.py: more than {arguments.limit} % of a core")


main()
