#!/usr/bin/env python3
"""Measures the CPU time of the sinks that send to programs, lights and the network, inside the program.

    sinks.py HEMIOLA [--seconds N] [--rounds N] [--only TEXT]

In each round, one hemiola analyses clicks at real-time speed without the sink, and beside it, at the same time, one with each sink. The CPU
time of a sink is that of its process minus that of the process without it, in percent of a core; programs that the sinks start or send to
are other processes, which are not counted. Printed are the median and the range of the rounds. 43 messages a second are one for each batch.

Exit status 1 if a median exceeds its limit.
"""

import argparse
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

# Seconds that are not measured: at the start, and before the end.
WARM_UP, REST = 10, 2
# In percent of a core, with 43 messages a second.
LIMIT = 0.3


def cpu(process):
    """CPU time of all threads so far, in seconds, from schedstat with a resolution of nanoseconds. Children are not counted."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir()) / 1e9


class Receiver:
    """A UDP or TCP socket that counts what matches. It looks 50 times a second: to wake a receiver that waits on the same computer would count
    for the sender; in a network it is another one."""

    def __init__(self, kind, pattern=None, answer=None, answers={}):
        """A connection gets `answer` after its first bytes, and each value of `answers` after bytes that contain its key."""
        self.pattern, self.answer, self.answers, self.count = pattern, answer, answers, 0
        self.socket = socket.socket(socket.AF_INET, kind)
        self.socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        if kind == socket.SOCK_STREAM:
            self.socket.listen()
        threading.Thread(target=self.serve, args=(kind,), daemon=True).start()

    def serve(self, kind):
        if kind == socket.SOCK_DGRAM:
            self.read(self.socket, forever=True)
        while True:
            threading.Thread(target=self.read, args=(self.socket.accept()[0],), daemon=True).start()

    def read(self, connection, forever=False):
        connection.settimeout(0)
        answer = self.answer
        while True:
            time.sleep(0.02)
            try:
                while data := connection.recv(1 << 16):
                    self.count += data.count(self.pattern) if self.pattern else 1
                    if answer:
                        connection.sendall(answer)
                        answer = None
                    for request, reply in self.answers.items():
                        if request in data:
                            connection.sendall(reply)
            except BlockingIOError:
                continue
            except OSError:
                break
            if not data and not forever:
                break


class File:
    """A file whose lines are counted."""

    def __init__(self, path):
        self.path = path

    @property
    def count(self):
        return sum(1 for _ in open(self.path, encoding="utf-8")) if self.path.exists() else 0


def sinks(folder):
    """Name, SPEC, messages a second, what counts them, and the limit (None: none)."""
    tested = []

    def udp():
        return Receiver(socket.SOCK_DGRAM)

    def broker(topic):
        # Accepts the connection (CONNACK), and answers each PINGREQ with a PINGRESP: without one the client connects again after 10 s. No
        # message contains the bytes of a PINGREQ. With QoS 0 a broker answers nothing else.
        return Receiver(socket.SOCK_STREAM, topic, b"\x20\x02\x00\x00", {b"\xc0\x00": b"\xd0\x00"})

    def add(name, spec, messages, receiver, limit=LIMIT):
        tested.append((name, spec.replace("@", receiver.address if isinstance(receiver, Receiver) else ""), messages, receiver, limit))

    lines = pathlib.Path(folder, "exec.jsonl")
    add("exec, all records of the default analyzers", f"exec:exec cat >'{lines}'", 43, File(lines))
    few = pathlib.Path(folder, "few.jsonl")
    add("exec, batches with levels and tempo alone", f"exec:exec cat >'{few}',select=batch+levels+beat.bpm", 43, File(few), None)
    add("mqtt, every batch as a record", "mqtt:@,batches=record,every_ms=0,select=levels+beat.bpm", 43, broker(b"hemiola/batch"))
    add("mqtt, values once a second, and beats", "mqtt:@,select=levels+beat.bpm+beat", 6, broker(b"hemiola/"), None)
    add("osc, all features", "osc:@", 43, udp())
    add("osc, TCP", "osc:tcp://@", 43, Receiver(socket.SOCK_STREAM, b"#bundle"))
    add("osc, the map touchdesigner", "osc:@,map=touchdesigner", 43, udp())
    add("wled", "wled:@", 43, udp())
    add("ddp, 300 pixels", "ddp:@,pixels=300", 43, udp())
    add("sacn, 170 pixels", "sacn:@,pixels=170", 43, udp())
    add("artnet, 170 pixels", "artnet:@,pixels=170", 43, udp())
    add("os2l, beats of 120 BPM", "os2l:@", 2, Receiver(socket.SOCK_STREAM, b'"evt"'), None)
    return tested


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hemiola")
    parser.add_argument("--seconds", type=float, default=40, help="length of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="measure the sinks whose name contains this text")
    options = parser.parse_args()
    if options.seconds < WARM_UP + REST + 10 or options.rounds < 1:
        sys.exit(f"sinks: --seconds: at least {WARM_UP + REST + 10}; --rounds: at least 1")
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        tested = [sink for sink in sinks(folder) if options.only in sink[0]]
        analyze = [
            options.hemiola, "analyze", "--quiet", "--realtime", "--capture", f"tone:clicks,bpm=120,seconds={options.seconds}",
            "--sink", f"json-lines:{folder}/NUMBER.jsonl,select=end"]
        loads, alone = [[] for _ in tested], []
        for round in range(options.rounds):
            counts = [receiver.count for *_, receiver, _ in tested]
            commands = [analyze] + [[*analyze, "--sink", spec] for _, spec, *_ in tested]
            processes = [
                subprocess.Popen([word.replace("NUMBER", f"{round}-{place}") for word in command])
                for place, command in enumerate(commands)]
            time.sleep(WARM_UP)
            before, start = [cpu(process) for process in processes], time.monotonic()
            time.sleep(options.seconds - WARM_UP - REST)
            after, end = [cpu(process) for process in processes], time.monotonic()
            for process in processes:
                if process.wait() != 0:
                    sys.exit(f"sinks: {process.args} ended with status {process.returncode}")
            load = [100 * (last - first) / (end - start) for first, last in zip(before, after)]
            alone.append(load[0])
            for place, value in enumerate(load[1:]):
                loads[place].append(value - load[0])
            for (name, _, messages, receiver, _), count in zip(tested, counts):
                # A file is written anew in each round.
                received = receiver.count - (0 if isinstance(receiver, File) else count)
                if received < messages * (options.seconds - WARM_UP) * 0.9:
                    sys.exit(f"sinks: {name}: only {received} messages were received")
    print(f"{'analysis alone':<52} {statistics.median(alone):7.3f} % of a core")
    for (name, _, messages, _, limit), values in zip(tested, loads):
        median = statistics.median(values)
        bound = "" if limit is None else f"  (≤ {limit:g} %{'' if median <= limit else ': MISSED'})"
        print(f"{f'{name} ({messages}/s)':<52} {median:7.3f} % of a core, {min(values):.3f} to {max(values):.3f}{bound}")
        if limit is not None and median > limit:
            missed.append(name)
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


main()
