#!/usr/bin/env python3
"""Measures the bridge to visualizers: CPU time per client, dropped messages, memory, and resources after clients have left.

    bridge.py HEMIOLA [--seconds N] [--rounds N]

The program analyses a file in real time with clients at its socket (clients.c). The cost of clients is the CPU time of the process with
them minus that of a process without; figures are medians of the rounds. Exit status 1 if a figure exceeds its limit. Requires two
processors without other load, one of them for the clients.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
# Messages per second at 44.1 kHz.
RATE = 44_100 / 1024
MUSIC = HERE.parent.parent / "examples" / "music" / "minuet.flac"


class Host:
    """A running hemiola with the sink socket."""

    def __init__(self, hemiola, folder, *arguments, clients=64):
        self.path = f"{folder}/s"
        sink = ["--sink", f"socket:{self.path},max_clients={clients}"]
        # The bundled half minute ten times, which is longer than any measurement.
        self.process = subprocess.Popen(
            [hemiola, "analyze", *[str(MUSIC)] * 10, "--quiet", *sink, *arguments], stdout=subprocess.DEVNULL)
        while not os.path.exists(self.path):
            time.sleep(0.01)
        time.sleep(1)

    def cpu(self):
        """CPU time of all threads so far, in seconds, from schedstat with a resolution of nanoseconds."""
        total = 0
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def memory(self, key="VmRSS"):
        """Memory in MiB."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(key):
                return int(line.split()[1]) / 1024
        return 0

    def descriptors(self):
        return len(list(pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)


class Crowd:
    """A process with many clients, which measures for some seconds."""

    def __init__(self, program, host, count, seconds, stalled=0):
        command = [program, host.path, str(count), str(seconds), str(stalled)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        # The clients do not count their first second.
        time.sleep(1)

    def result(self):
        line = self.process.stdout.read()
        if self.process.wait() != 0:
            sys.exit("the clients failed")
        return json.loads(line)


def join(path):
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    return client


NAMES = [f"Author {number % 97} - The long name of preset {number}" for number in range(10_000)]
# Lines that a client sends as fast as possible.
FLOODS = {
    "taps": [b'{"type":"tap"}\n' * 500],
    "taps with an id": [b'{"type":"tap","id":1}\n' * 500],
    "unknown names": [b'{"type":"loadPreset","name":"%s"}\n' % (b"x" * 1000)] * 10,
    "lists of ten thousand names": [json.dumps({"type": "presetNames", "names": NAMES}).encode() + b"\n"],
}


def flood(path, lines):
    """Sends the lines repeatedly, reads all replies, and connects again when it is disconnected."""
    while True:
        client = join(path)
        threading.Thread(target=lambda client=client: drain(client), daemon=True).start()
        try:
            client.sendall(b'{"type":"subscribe","streams":[]}\n')
            while True:
                for line in lines:
                    client.sendall(line)
        except OSError:
            client.close()


def drain(client):
    try:
        while client.recv(1 << 16):
            pass
    except OSError:
        pass


def load(hemiola, clients, seconds, count, stalled=0, floods=(), arguments=()):
    """CPU load in percent of a core with a number of clients, the clients' measurements, and memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        host = Host(hemiola, folder, *arguments, clients=max(count + stalled + len(floods), 1))
        flooders = [multiprocessing.Process(target=flood, args=(host.path, lines), daemon=True) for lines in floods]
        for flooder in flooders:
            flooder.start()
        crowd = Crowd(clients, host, count, seconds, stalled) if count else None
        before, start = host.cpu(), time.monotonic()
        seen = crowd.result() if crowd else time.sleep(seconds)
        percent = 100 * (host.cpu() - before) / (time.monotonic() - start)
        memory = host.memory()
        for flooder in flooders:
            flooder.terminate()
            flooder.join()
        host.end()
        return percent, seen, memory


def presets(folder):
    """A file with ten thousand preset names."""
    path = f"{folder}/presets.txt"
    pathlib.Path(path).write_text("\n".join(NAMES) + "\n")
    return path


def connect_without_reading(hemiola, count):
    """MiB before, with clients that do not read while megabytes of names are sent to them, and five seconds after they left."""
    with tempfile.TemporaryDirectory() as folder:
        host = Host(hemiola, folder)
        time.sleep(1)
        before = host.memory()
        stalled = [join(host.path) for _ in range(count)]
        for client in stalled:
            client.sendall(b'{"type":"subscribe","streams":["control"]}\n')
        sender = join(host.path)
        sender.sendall(b'{"type":"subscribe","streams":[]}\n')
        for _ in range(20):
            sender.sendall(FLOODS["lists of ten thousand names"][0])
            time.sleep(0.3)
        during = host.memory()
        for client in [*stalled, sender]:
            client.close()
        time.sleep(5)
        after = host.memory()
        host.end()
        return before, during, after


def connect_and_disconnect(hemiola, cycles):
    """File descriptors and MiB before and after a number of clients have connected and disconnected."""
    with tempfile.TemporaryDirectory() as folder:
        host = Host(hemiola, folder)

        def cycle(count):
            for number in range(count):
                client = join(host.path)
                if number % 2:
                    client.recv(65536)
                if number % 3 == 0:
                    client.sendall(b'{"type":"subscribe","streams":["beat"],"id":1}\n{"type":')
                client.close()
            time.sleep(0.5)

        # The allocator's caches are filled after some clients.
        cycle(cycles // 4)
        before = host.descriptors(), host.memory()
        cycle(cycles)
        after = host.descriptors(), host.memory()
        host.end()
        return before, after


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hemiola")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    missed = []

    def figure(name, value, unit, bar=None, most=True):
        good = bar is None or (value <= bar if most else value >= bar)
        bound = "" if bar is None else f"  ({'≤' if most else '≥'} {bar:g}{unit}{'' if good else ': MISSED'})"
        print(f"{name:<58} {value:9.2f}{unit}{bound}", flush=True)
        if not good:
            missed.append(name)

    with tempfile.TemporaryDirectory() as folder:
        clients = f"{folder}/clients"
        subprocess.run(["cc", "-O2", "-o", clients, str(HERE / "clients.c")], check=True)
        idle = [load(options.hemiola, clients, options.seconds, 0)[0] for _ in range(options.rounds)]
        base = statistics.median(idle)
        figure("analysis alone, paced", base, " %")
        for count, bar in ((1, 1), (100, 4), (1000, None)):
            runs = [load(options.hemiola, clients, options.seconds, count) for _ in range(options.rounds)]
            percent = statistics.median(run[0] for run in runs)
            figure(f"{count} client{'s' if count > 1 else ''}: above that", percent - base, " %", bar)
            figure(f"{count} client{'s' if count > 1 else ''}: messages per second of the slowest", statistics.median(r[1]["least"] for r in runs), "",
                   RATE * 0.98, most=False)
            figure(f"{count} client{'s' if count > 1 else ''}: dropped", statistics.median(r[1]["drops"] + r[1]["holes"] for r in runs), "", 0)
            if count == 1000:
                figure("a client of a thousand", 10 * (percent - base) / count, " ms of CPU time per second")
                figure("a client of a thousand", runs[0][1]["bytes"] / 1e6, " MB/s")
        calm = load(options.hemiola, clients, options.seconds, 1)
        crowded = [load(options.hemiola, clients, options.seconds, 1, stalled=100) for _ in range(options.rounds)]
        figure("100 stalled clients: memory above that with one", statistics.median(run[2] for run in crowded) - calm[2], " MiB", 40)
        figure("100 stalled clients: interval of another client, 99th percentile", statistics.median(run[1]["p99"] for run in crowded), " ms", 35)
        names = ("--sink", f"presets:/dev/null,state=none,mode=manual,list={presets(folder)}")
        calm = load(options.hemiola, clients, options.seconds, 1, arguments=names)
        for name, lines in FLOODS.items():
            floods = [load(options.hemiola, clients, options.seconds, 1, floods=[lines] * 4, arguments=names) for _ in range(options.rounds)]
            figure(f"4 clients flood with {name}: CPU time", statistics.median(run[0] for run in floods), " %")
            figure(f"4 clients flood with {name}: another client's 99th percentile above that without floods",
                   statistics.median(run[1]["p99"] for run in floods) - calm[1]["p99"], " ms", 5)
        before, during, after = connect_without_reading(options.hemiola, 20)
        figure("20 clients that do not read: memory above the start", during - before, " MiB", 40)
        figure("20 clients that do not read: memory 5 s after they left", after - before, " MiB", 8)
        before, after = connect_and_disconnect(options.hemiola, 2000)
        figure("2000 clients connect and disconnect: descriptors left", after[0] - before[0], "", 0)
        figure("2000 clients connect and disconnect: memory left", after[1] - before[1], " MiB", 1)
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


main()
