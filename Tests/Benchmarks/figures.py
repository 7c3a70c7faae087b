#!/usr/bin/env python3
"""Measures CPU time relative to a minimal C program, to aubioonset and to ffmpeg's ebur128, peak memory and start-up time.

    figures.py HEMIOLA [--rounds N] [--minutes M] [--keep FOLDER] [--base PROGRAM]

CPU time is that of the whole process (user + system), measured in pairs A B A B ...: the figures are the ratios of pairs, because
absolute times vary on shared machines. Exit status 1 if a figure exceeds its limit.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MUSIC = HERE.parent.parent / "examples" / "music" / "minuet.flac"


def spend(command, stdout=subprocess.DEVNULL):
    """Runs a command; returns its CPU seconds and peak memory in MiB."""
    process = subprocess.Popen(command, stdout=stdout, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with status {process.returncode}: {' '.join(map(str, command))}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def pairs(one, other, rounds):
    """Ratios of the CPU times of two commands, one per round, after a warm-up run of each."""
    spend(one), spend(other)
    return [spend(one)[0] / spend(other)[0] for _ in range(rounds)]


def spend_from_pipe(command, wav):
    """CPU seconds of a command that reads the file from a pipe, without those of the writer."""
    writer = subprocess.Popen(["cat", str(wav)], stdout=subprocess.PIPE)
    process = subprocess.Popen(command, stdin=writer.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    writer.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    writer.wait()
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with status {process.returncode} on a pipe")
    return usage.ru_utime + usage.ru_stime


def peak_memory(command):
    """Peak resident MiB, measured by a small parent process: the memory of a large one counts at fork."""
    if not shutil.which("/usr/bin/time"):
        return spend(command)[1]
    result = subprocess.run(["/usr/bin/time", "-f", "%M", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return int(result.stderr.strip().splitlines()[-1]) / 1024


def first_record(command):
    """Milliseconds from the start of the process to its first complete line on a pipe."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.readline()
    elapsed = time.perf_counter() - start
    process.stdout.close()
    process.wait()
    return elapsed * 1000


class Report:
    def __init__(self):
        self.missed = 0

    def row(self, what, values, bar, text="{:.2f}"):
        middle = statistics.median(values)
        result = "" if bar is None else ("ok" if middle <= bar else "MISSED")
        self.missed += result == "MISSED"
        spread = f"{text.format(min(values))} ... {text.format(max(values))}"
        print(f"{what:58} {text.format(middle):>8}  ({spread})  {'' if bar is None else f'bar {text.format(bar)}':12} {result}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hemiola")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--keep", help="folder for the test file and the C program, kept for the next run")
    parser.add_argument("--base", help="an earlier program: compare start-up CPU and peak memory with it")
    options = parser.parse_args()
    hemiola = str(pathlib.Path(options.hemiola).resolve())
    folder = pathlib.Path(options.keep or tempfile.mkdtemp(prefix="hemiola-bench-"))
    folder.mkdir(parents=True, exist_ok=True)

    wav = folder / "music.wav"
    if not wav.exists():
        repeats = round(options.minutes * 60 / 30.14)
        subprocess.run(["sox", MUSIC, wav, "repeat", str(repeats), "trim", "0", str(options.minutes * 60)], check=True)
    limit = folder / "limit"
    if not limit.exists():
        subprocess.run(
            ["gcc", "-O3", "-march=x86-64-v3", "-ffast-math", "-o", limit, HERE / "limit.c", "-lsndfile", "-lfftw3f", "-lm"],
            check=True)

    two = ["--analyzer", "levels", "--analyzer", "spectrum"]
    three = [*two, "--analyzer", "visualizer"]
    run = [hemiola, "analyze", "--quiet", "--sink", "json-lines:/dev/null"]
    analyze = [*run, *two, str(wav)]
    report = Report()
    print(f"{options.minutes:g} minutes of stereo at 44.1 kHz, {options.rounds} rounds: median (lowest ... highest)")
    report.row("CPU / the limit in C (stage d)", pairs(analyze, [str(limit), str(wav), "d"], options.rounds), 1.35)
    if shutil.which("aubioonset"):
        aubio, rounds = ["aubioonset", "-i", str(wav)], max(3, options.rounds // 3)
        report.row("CPU / aubioonset", pairs(analyze, aubio, rounds), 0.30)
        report.row("CPU with visualizer / aubioonset", pairs([*run, *three, str(wav)], aubio, rounds), 0.35)
    else:
        print("aubioonset: command not found (package aubio-tools); its figures are skipped")
    if shutil.which("ffmpeg"):
        ffmpeg = ["ffmpeg", "-nostdin", "-nostats", "-loglevel", "error", "-i", str(wav), "-af", "ebur128=peak=true", "-f", "null", "-"]
        rounds = max(3, options.rounds // 3)
        report.row("CPU of loudness / ffmpeg's ebur128", pairs([*run, "--analyzer", "loudness", str(wav)], ffmpeg, rounds), 0.6)
    else:
        print("ffmpeg: command not found; its figure is skipped")
    piped = [spend_from_pipe([*run, *two, "-"], wav) / spend(analyze)[0] for _ in range(options.rounds)]
    report.row("CPU from a pipe / from the same file", piped, 1.1)
    report.row("peak memory, MiB", [peak_memory(analyze) for _ in range(3)], 30, "{:.1f}")
    to_pipe = [hemiola, "analyze", "--quiet", "--causal", "--sink", "json-lines", str(wav)]
    report.row("start to first record, ms", [first_record(to_pipe) for _ in range(15)], 25, "{:.1f}")
    if options.base:
        short = folder / "short.wav"
        subprocess.run(["sox", MUSIC, short, "trim", "0", "0.05"], check=True)
        base, start = str(pathlib.Path(options.base).resolve()), [*run[1:], *two, str(short)]
        # A run takes milliseconds, so that a single one says little.
        report.row("CPU of 0.05 s of audio / the base program", pairs([hemiola, *start], [base, *start], 20 * options.rounds), 0.5)
        ratios = [peak_memory(analyze) / peak_memory([base, *analyze[1:]]) for _ in range(3)]
        report.row("peak memory / the base program", ratios, 0.8)
    cpu = [spend(analyze)[0] for _ in range(3)]
    speed = options.minutes * 60 / statistics.median(cpu)
    print(f"about {speed:,.0f} times real time on one core of this machine")
    if not options.keep:
        shutil.rmtree(folder)
    sys.exit(1 if report.missed else 0)


if __name__ == "__main__":
    main()
