#!/usr/bin/env python3
"""Measures the CPU time of the sinks exec, mqtt and os2l inside the program.

    sinks.py HEMIOLA [--seconds N] [--rounds N]

In each round, one hemiola analyses clicks at real-time speed without the sink, and beside it, at the same time, one with each sink. The CPU
time of a sink is that of its process minus that of the process without it, in percent of a core; programs that the sinks start or send to
are other processes, which are not counted. Printed are the median and the range of the rounds. 43 messages a second are one for each batch.

Needs mosquitto, which is started here on a free port. Exit status 1 if a median exceeds its limit.
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


def listener(counts):
    """The port of a receiver for OS2L that counts messages."""
    server = socket.create_server(("127.0.0.1", 0))

    def receive(connection):
        while data := connection.recv(65536):
            counts["os2l"] += data.count(b'"evt"')

    def serve():
        while True:
            connection, _ = server.accept()
            threading.Thread(target=receive, args=[connection], daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return server.getsockname()[1]


def broker(folder):
    """A private mosquitto, and its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    configuration = pathlib.Path(folder, "mosquitto.conf")
    configuration.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\nlog_dest none\n", encoding="utf-8")
    process = subprocess.Popen(["mosquitto", "-c", str(configuration)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, port
        except OSError:
            time.sleep(0.1)
    sys.exit("sinks: mosquitto does not start")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hemiola")
    parser.add_argument("--seconds", type=float, default=40, help="length of a round")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.seconds < WARM_UP + REST + 10 or options.rounds < 1:
        sys.exit(f"sinks: --seconds: at least {WARM_UP + REST + 10}; --rounds: at least 1")
    counts = {"os2l": 0}
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        mosquitto, mqtt = broker(folder)
        # Name, SPEC, messages a second, limit.
        tested = [
            ("exec, all records of the default analyzers", "exec:exec cat >'{folder}/exec.jsonl'", 43, LIMIT),
            ("exec, batches with levels and tempo alone", "exec:exec cat >'{folder}/few.jsonl',select=batch+levels+beat.bpm", 43, None),
            ("mqtt, values once a second, and beats", f"mqtt:127.0.0.1:{mqtt},prefix=second,select=levels+beat.bpm+beat", 6, None),
            ("mqtt, every batch as a record", f"mqtt:127.0.0.1:{mqtt},batches=record,every_ms=0,select=levels+beat.bpm", 43, None),
            ("os2l, beats of 120 BPM", f"os2l:127.0.0.1:{listener(counts)}", 2, None),
        ]
        analyze = [
            options.hemiola, "analyze", "--quiet", "--realtime", "--capture", f"tone:clicks,bpm=120,seconds={options.seconds}",
            "--sink", f"json-lines:{folder}/{{index}}.jsonl,select=end"]
        loads, alone = [[] for _ in tested], []
        try:
            for number in range(options.rounds):
                commands = [[*analyze], *[[*analyze, "--sink", spec] for _, spec, _, _ in tested]]
                processes = []
                for index, command in enumerate(commands):
                    words = [word.replace("{index}", f"{number}-{index}").replace("{folder}", folder) for word in command]
                    processes.append(subprocess.Popen(words))
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
        finally:
            mosquitto.terminate()
            mosquitto.wait()
        lines = sum(1 for _ in open(f"{folder}/exec.jsonl", encoding="utf-8"))
        if lines < 40 * options.seconds:
            sys.exit(f"sinks: the program of exec has read {lines} lines only")
        if counts["os2l"] < options.rounds * (options.seconds - WARM_UP):
            sys.exit(f"sinks: the receiver of os2l has read {counts['os2l']} messages only")
    print(f"{'analysis alone':<52} {statistics.median(alone):7.3f} % of a core")
    for (name, _, messages, limit), values in zip(tested, loads):
        median = statistics.median(values)
        bound = "" if limit is None else f"  (≤ {limit:g} %{'' if median <= limit else ': MISSED'})"
        print(f"{f'{name} ({messages}/s)':<52} {median:7.3f} % of a core, {min(values):.3f} to {max(values):.3f}{bound}")
        if limit is not None and median > limit:
            missed.append(name)
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


main()
