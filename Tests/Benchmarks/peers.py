#!/usr/bin/env python3
"""Compares CPU time, start-up and memory with other programs that do the same task on the same file.

    peers.py HEMIOLA [--data DIR] [--minutes M] [--rounds N] [--only TEXT] [--python PYTHON]

The file is ten minutes of stereo at 44.1 kHz, 16 bits: the bundled minuet repeated, or the audio files of DIR one after another. Every task
is one process that reads and decodes the file. Hemiola writes all its records as text; libraries keep their results in memory. CPU time is
that of the whole process (user + system), in pairs: Hemiola, peer, Hemiola, peer …. Figures are the medians of the ratios of these pairs,
because absolute times vary on shared machines. Peers run with one thread, except madmom TCNBeatTracker, which has two. Start-up is the CPU
time for one second of sound.

Python programs are installed into .build/peers, with PYTHON (default: python3). Other programs are measured if they are installed:
aubio-tools, vamp-examples, cava, ffmpeg. The results are in .build/peers: peers.json and peers.md.

Exit status: 0 success, 1 a program failed or is missing, 2 wrong usage.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import wave

sys.dont_write_bytecode = True

from peer_programs import (  # noqa: E402
    CAVA, ENVIRONMENT, FILE, LIVE, LIVE_ARGUMENTS, LIVE_COMPUTES, PYTHON, RATE, ROOT, TASKS, WORK, fail, set_up)

MUSIC = ROOT / "examples" / "music" / "minuet.flac"


# Input


def write_wave(path, seconds, data):
    """Writes a WAV file of the files of the folder, or of the minuet, repeated until it has the length."""
    sources = sorted(p for p in pathlib.Path(data).rglob("*") if p.is_file()) if data else [MUSIC]
    missing = round(seconds * RATE) * 4
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2), file.setsampwidth(2), file.setframerate(RATE)
        used = 0
        while missing > 0:
            before = missing
            for source in sources:
                command = ["ffmpeg", "-nostdin", "-v", "error", "-i", source, "-vn", "-f", "s16le", "-ac", "2", "-ar", str(RATE), "-"]
                bytes_ = subprocess.run(command, capture_output=True).stdout[:missing]
                file.writeframes(bytes_)
                missing -= len(bytes_)
                used += 1
            if missing == before:
                fail(f"{data}: no audio files")
    return used


# Measurement


def measure(command, file):
    """Runs a command on a file; returns its CPU seconds and peak memory in MB. None if it fails."""
    with tempfile.NamedTemporaryFile("r") as report:
        # GNU time is the parent: the memory of a large parent counts at fork.
        words = ["/usr/bin/time", "-q", "-f", "%M", "-o", report.name, *(str(file) if word == FILE else word for word in command)]
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENVIRONMENT)
        errors = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            print(f"peers: {' '.join(map(str, command[:4]))} … failed: {errors.strip()[-300:]}", file=sys.stderr)
            return None
        return usage.ru_utime + usage.ru_stime, int(report.read().split()[-1]) * 1024 / 1e6


def compare(ours, peer, file, rounds):
    """The ratios of CPU time of pairs, and both peaks of memory. None if a program fails."""
    ratios, memory = [], []
    for _ in range(rounds):
        one, other = measure(ours, file), measure(peer.command, file)
        if one is None or other is None:
            return None
        ratios.append(other[0] / one[0])
        memory.append((one[1], other[1]))
    return ratios, *(statistics.median(values) for values in zip(*memory))


def row(task, peer, ratios, startup, memory):
    return {
        "task": task, "program": peer.name, "package": peer.package, "computes": peer.computes, "rounds": len(ratios),
        "cpu": statistics.median(ratios), "cpu_low": min(ratios), "cpu_high": max(ratios),
        "startup": startup and statistics.median(startup), "memory_mb": memory[1], "hemiola_memory_mb": memory[0]}


def selected(only, installed):
    """The tasks and peers that are measured; those of a minute per run last."""
    found = [
        (task, peer) for task in TASKS for peer in task.peers
        if peer.package in installed and only in f"{task.name} {peer.name}".lower()]
    return sorted(found, key=lambda pair: pair[1].is_slow)


def compare_all(hemiola, file, short, rounds, only, installed):
    """A row per peer; None if it fails."""
    if LIVE.package in installed and only in f"live bars {LIVE.name}":
        yield compare_live(hemiola, file, rounds)
    for task, peer in selected(only, installed):
        ours = [hemiola, *task.arguments]
        # The first run puts files into the page cache, and compiles functions of librosa.
        compare(ours, peer, short, 1)
        startup = compare(ours, peer, short, 3)
        result = compare(ours, peer, file, min(rounds, 3) if peer.is_slow else rounds)
        yield result and row(task.name, peer, result[0], startup and startup[0], result[1:])


def cpu_time(process):
    """CPU seconds of all threads of a process so far."""
    tasks = pathlib.Path(f"/proc/{process.pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def peak(process):
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) * 1024 / 1e6


def compare_live(hemiola, file, rounds):
    """cava and Hemiola read the same sound from pipes at real-time speed, at the same time; one ratio per four seconds."""
    seconds, hop = 4, 1024
    with tempfile.TemporaryDirectory() as folder, wave.open(str(file)) as music:
        pipes = [f"{folder}/{name}" for name in ("hemiola", "cava")]
        for pipe in pipes:
            os.mkfifo(pipe)
        (pathlib.Path(folder) / "config").write_text(CAVA.format(pipe=pipes[1]))
        # Opened for reading and writing, so that opening does not wait.
        ends = [os.open(pipe, os.O_RDWR) for pipe in pipes]
        processes = [
            subprocess.Popen([hemiola, *LIVE_ARGUMENTS], stdin=ends[0], stdout=subprocess.DEVNULL),
            subprocess.Popen(
                ["cava", "-p", f"{folder}/config"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
        ended = threading.Event()

        def play():
            due = time.monotonic()
            while not ended.is_set():
                samples = music.readframes(hop)
                if len(samples) < 4 * hop:
                    music.rewind()
                    continue
                for end in ends:
                    os.write(end, samples)
                due += hop / RATE
                time.sleep(max(0, due - time.monotonic()))

        player = threading.Thread(target=play, daemon=True)
        player.start()
        try:
            time.sleep(3)
            if any(process.poll() is not None for process in processes):
                fail("cava or hemiola ended early")
            ratios = []
            for _ in range(max(rounds, 5)):
                before = [cpu_time(process) for process in processes]
                time.sleep(seconds)
                ours, peer = (cpu_time(process) - start for process, start in zip(processes, before))
                ratios.append(peer / ours)
            memory = [peak(process) for process in processes]
        finally:
            for process in processes:
                process.send_signal(signal.SIGTERM)
            for process in processes:
                process.wait(20)
            ended.set()
            player.join(5)
            for end in ends:
                os.close(end)
    return row("live bars", LIVE, ratios, None, memory)


# Report


def table(rows):
    lines = ["| task: program | CPU time | lowest … highest | start-up | peak MB | computes |", "|---|---|---|---|---|---|"]
    computed = {task.name: task.computes for task in TASKS} | {"live bars": LIVE_COMPUTES}
    for name in dict.fromkeys(r["task"] for r in rows):
        of_task = [r for r in rows if r["task"] == name]
        startup = "–" if of_task[0]["startup"] is None else "1"
        memory = statistics.median(r["hemiola_memory_mb"] for r in of_task)
        lines.append(f"| {name}: Hemiola | 1 | | {startup} | {memory:.0f} | {computed[name]} |")
        for r in of_task:
            startup = "–" if r["startup"] is None else figure(r["startup"])
            lines.append(
                f"| {name}: {r['program']} | {figure(r['cpu'])} | {figure(r['cpu_low'])} … {figure(r['cpu_high'])} | {startup} "
                f"| {r['memory_mb']:.0f} | {r['computes']} |")
    return "\n".join(lines) + "\n"


def figure(value):
    """Two digits, without an exponent."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def worse(rows):
    """Where Hemiola needs more than the peer, as sentences."""
    checks = {
        "CPU time": lambda r: r["cpu"], "start-up time": lambda r: r["startup"] or 1,
        "memory": lambda r: r["memory_mb"] / r["hemiola_memory_mb"]}
    found = [(name, r, 1 / value(r)) for name, value in checks.items() for r in rows if value(r) < 0.995]
    return [f"{r['task']}: Hemiola needs {ratio:.1f} times the {name} of {r['program']}" for name, r, ratio in found]


def report(arguments, rows, installed, used):
    """Writes the results into .build/peers; returns them as Markdown."""
    order = {(task.name, peer.name): number for number, (task, peer) in enumerate((t, p) for t in TASKS for p in t.peers)}
    rows = sorted(rows, key=lambda r: order.get((r["task"], r["program"]), len(order)))
    processor = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    result = {
        "date": datetime.date.today().isoformat(), "processor": processor[1] if processor else "unknown",
        "hemiola": subprocess.run([arguments.hemiola, "--version"], capture_output=True, text=True, check=True).stdout.strip(),
        "input": f"{arguments.minutes:g} minutes of stereo at 44.1 kHz, 16 bits: "
                 + (f"{used} files of a folder" if arguments.data else "the bundled minuet, repeated"),
        "python": subprocess.run([PYTHON / "bin" / "python", "--version"], capture_output=True, text=True).stdout.split()[-1],
        "versions": installed, "hemiola_computes": {task.name: task.computes for task in TASKS}, "rows": rows}
    (WORK / "peers.json").write_text(json.dumps(result, indent=2) + "\n")
    text = (
        f"{result['date']}, {result['processor']}; {result['input']}. Python {result['python']}; "
        + ", ".join(f"{name} {version}" for name, version in sorted(installed.items())) + ".\n\n"
        "CPU time and start-up are ratios: above 1, Hemiola needs less.\n\n" + table(rows)
        + "\nWhere Hemiola needs more:\n\n"
        + ("\n".join(f"- {line}." for line in worse(rows)) or "Nowhere.") + "\n")
    (WORK / "peers.md").write_text(text)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hemiola")
    parser.add_argument("--data", metavar="DIR")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", metavar="TEXT", help="the rows whose task or program contains the text")
    parser.add_argument("--python", default="python3")
    arguments = parser.parse_args()
    arguments.hemiola = str(pathlib.Path(arguments.hemiola).resolve())
    arguments.only = arguments.only.lower()
    installed, missing = set_up(arguments.python)
    with tempfile.TemporaryDirectory(prefix="hemiola-peers-") as folder:
        file, short = pathlib.Path(folder) / "music.wav", pathlib.Path(folder) / "short.wav"
        used = write_wave(file, 60 * arguments.minutes, arguments.data)
        write_wave(short, 1, arguments.data)
        rows, failures, text = [], 0, ""
        for result in compare_all(arguments.hemiola, file, short, arguments.rounds, arguments.only, installed):
            failures += result is None
            if result:
                print(f"{result['task']}: {result['program']}: {figure(result['cpu'])}", file=sys.stderr, flush=True)
                rows.append(result)
                text = report(arguments, rows, installed, used)
    print(text)
    sys.exit(1 if missing or failures else 0)


main()
