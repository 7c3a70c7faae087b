#!/usr/bin/env python3
"""Measures the sink midi: jitter of the clock beside a bare timer loop, phase error, and CPU time.

    midi.py HEMIOLA [--seconds N] [--bpm N]

The program analyses clicks at real-time speed and sends MIDI clock to a pseudo-terminal. Beside it, in the same run, a C program sends pulses of
the same rate from a bare loop of clock_nanosleep (pulses.c), and another hemiola does the same analysis without the sink. One receiver
notes the arrival of all pulses.

Jitter is the 99th percentile of the distance of a pulse from the steady grid through the pulses around it (10 s); the phase error is that of this
grid from the clicks, which are paced by the same clock, apart from a constant. The CPU time of the sink is that of the
process minus that of the process without it. Exit status 1 if a figure exceeds its limit.
"""

import argparse
import json
import os
import pathlib
import pty
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PULSES = 24
# Seconds that are not measured, and length of a window.
WARM_UP, WINDOW = 15, 10
# In milliseconds, and in percent of a core.
JITTER_LIMIT, PHASE_LIMIT, CPU_LIMIT = 1, 1, 0.3


def cpu(process):
    """CPU time of all threads so far, in seconds, from schedstat with a resolution of nanoseconds."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir()) / 1e9


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def deviations(times, interval):
    """The distance of each pulse from the grid of its window, and the distance of the windows' grids from a common one, in milliseconds."""
    errors = [1000 * (time - times[0] - index * interval) for index, time in enumerate(times)]
    length = max(1, round(WINDOW / interval))
    windows = [errors[start:start + length] for start in range(0, len(errors) - length + 1, length)]
    medians = [statistics.median(window) for window in windows]
    common = statistics.median(medians)
    jitter = [abs(error - median) for window, median in zip(windows, medians) for error in window]
    return jitter, [median - common for median in medians]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hemiola")
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--bpm", type=float, default=120)
    options = parser.parse_args()
    if options.seconds < WARM_UP + 2 * WINDOW:
        sys.exit(f"midi: --seconds: at least {WARM_UP + 2 * WINDOW}")
    missed = []

    def figure(name, value, unit, bar=None):
        good = bar is None or value <= bar
        bound = "" if bar is None else f"  (≤ {bar:g}{unit}{'' if good else ': MISSED'})"
        print(f"{name:<58} {value:9.3f}{unit}{bound}", flush=True)
        if not good:
            missed.append(name)

    interval = 60 / options.bpm / PULSES
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/pulses"
        subprocess.run(["cc", "-O2", "-o", program, str(HERE / "pulses.c")], check=True)
        pairs = [pty.openpty() for _ in range(2)]
        names = [os.ttyname(slave) for _, slave in pairs]
        for _, slave in pairs:
            subprocess.run(["stty", "raw", "-echo"], stdin=slave, check=True)
        arrivals = pathlib.Path(f"{folder}/arrivals")
        with open(arrivals, "w", encoding="utf-8") as output:
            receiver = subprocess.Popen(
                [program, "receive", *[str(main) for main, _ in pairs]], pass_fds=[main for main, _ in pairs], stdout=output)
        analyze = [
            options.hemiola, "analyze", "--quiet", "--realtime", "--analyzer", "beat", "--capture",
            f"tone:clicks,bpm={options.bpm},seconds={options.seconds}"]
        plain = subprocess.Popen([*analyze, "--sink", f"json-lines:{folder}/plain.jsonl,select=beat"])
        tested = subprocess.Popen([*analyze, "--sink", f"json-lines:{folder}/beats.jsonl,select=beat", "--sink", f"midi:{names[0]}"])
        timer = subprocess.Popen([program, "send", names[1], str(int(options.seconds / interval)), str(round(interval * 1e9))])
        time.sleep(WARM_UP)
        before, start = [cpu(process) for process in (plain, tested, timer)], time.monotonic()
        time.sleep(max(1, options.seconds - WARM_UP - (time.monotonic() - start) - 3))
        after, end = [cpu(process) for process in (plain, tested, timer)], time.monotonic()
        for process in (plain, tested, timer):
            if process.wait() != 0:
                sys.exit(f"midi: {process.args[0]} ended with status {process.returncode}")
        for _, slave in pairs:
            os.close(slave)
        if receiver.wait() != 0:
            sys.exit("midi: the receiver failed")
        lines = [line.split() for line in arrivals.read_text(encoding="utf-8").splitlines()]
        beats = [json.loads(line)["t"] for line in open(f"{folder}/beats.jsonl", encoding="utf-8") if '"beat"' in line]

    senders = [[(int(t) / 1e9, int(byte)) for index, t, byte in lines if int(index) == sender] for sender in range(2)]
    messages = [byte for _, byte in senders[0] if byte != 0xF8]
    if messages != [0xFA, 0xFC]:
        sys.exit(f"midi: messages besides the clock: {[hex(byte) for byte in messages]}, expected start and stop")
    clock, bare = ([time for time, byte in sender if byte == 0xF8] for sender in senders)
    # The clock stops after the last announced beat; the tempo of the last pulses is not measured.
    clock = [time for time in clock if clock[0] + WARM_UP <= time < clock[-1] - 1]
    bare = [time for time in bare if bare[0] + WARM_UP <= time]
    jitter, phases = deviations(clock, interval)
    bare_jitter, _ = deviations(bare, interval)
    figure("pulses measured", len(clock), "")
    figure("announced beats: largest distance from the clicks", 1000 * max(abs(t - round(t * options.bpm / 60) * 60 / options.bpm)
                                                                        for t in beats if t > WARM_UP), " ms")
    for part in (0.5, 0.99):
        figure(f"jitter, {100 * part:g}th percentile", percentile(jitter, part), " ms")
        figure(f"jitter of the bare timer loop, {100 * part:g}th percentile", percentile(bare_jitter, part), " ms")
    figure("jitter beyond that of the bare loop, 99th percentile", percentile(jitter, 0.99) - percentile(bare_jitter, 0.99), " ms", JITTER_LIMIT)
    figure("phase error, largest of all 10 s", max(abs(phase) for phase in phases), " ms", PHASE_LIMIT)
    load = [100 * (last - first) / (end - start) for first, last in zip(before, after)]
    figure("analysis alone", load[0], " % of a core")
    figure("the bare timer loop", load[2], " % of a core")
    figure("the sink, above the analysis alone", load[1] - load[0], " % of a core", CPU_LIMIT)
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


main()
