#!/usr/bin/env python3
"""Measures the analysis of many files: the gain of a second processor, the cost of a short file, memory per job, and the CPU time of a long
file against a C program that does the same work.

    corpus.py HEMIOLA [--rounds N] [--limit limit.c] [--shared-machine]

Figures are medians of ratios of runs in pairs. Exit status 1 if a figure exceeds its limit. The gain of a second processor is a ratio of wall
times and needs two processors without other load: rounds count in which two independent processes gain at least 1.9. With
--shared-machine, it is computed from CPU times: what remains of two processors after the additional CPU time of the second job. Requires sox, gcc and taskset.
"""

import argparse
import filecmp
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
FEATURES = ["--analyzer", "levels", "--analyzer", "spectrum"]


def run(arguments, **options):
    """Wall time and CPU time of a process, in seconds."""
    start = time.monotonic()
    before = os.times()
    subprocess.run(arguments, check=True, **{"stdout": subprocess.DEVNULL, **options})
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - start, cpu


def peak_memory(arguments):
    """The peak of the resident memory of a process, in MB. Read from the process: that of wait4 contains the parent's."""
    peak = 0
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            try:
                for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
                    if line.startswith("VmHWM"):
                        peak = max(peak, int(line.split()[1]) * 1024 / 1e6)
            except OSError:
                break
            time.sleep(0.01)
    return peak


class Report:
    """Prints figures and collects those beyond their limits."""

    def __init__(self):
        self.failures = 0

    def add(self, name, value, limit, unit="", at_least=False):
        good = value >= limit if at_least else value <= limit
        self.failures += not good
        sign = ">=" if at_least else "<="
        print(f"{name:<58} {value:8.2f} {unit:<3} {sign} {limit:g}{'' if good else '   EXCEEDED'}", flush=True)


class Benchmark:
    def __init__(self, hemiola, folder, rounds):
        self.hemiola = os.path.abspath(hemiola)
        self.folder = pathlib.Path(folder)
        self.rounds = rounds
        self.runs = 0

    def path(self, name):
        return str(self.folder / name)

    def tree(self, inputs, *options):
        """The command for a fresh folder of results."""
        self.runs += 1
        self.output = self.path(f"out{self.runs}")
        return [self.hemiola, "analyze", *inputs, "--output-dir", self.output, "-q", *options]

    def ratios(self, one, other, value=lambda result: result[1]):
        """The median of other / one, run in pairs."""
        pairs = [(value(run(one())), value(run(other()))) for _ in range(self.rounds)]
        return statistics.median(second / first for first, second in pairs)

    def make_inputs(self):
        subprocess.run(["sox", MUSIC, self.path("long.wav"), "repeat", "19"], check=True)
        subprocess.run(["sox", self.path("long.wav"), self.path("long.flac")], check=True)
        subprocess.run(["sox", MUSIC, self.path("short.wav"), "trim", "0", "0.25"], check=True)
        for name, source, count in [("songs", MUSIC, 80), ("few", self.path("short.wav"), 20), ("many", self.path("short.wav"), 220)]:
            os.mkdir(self.path(name))
            for index in range(count):
                shutil.copyfile(source, self.path(f"{name}/{index:03}{pathlib.Path(source).suffix}"))

    def gain(self, report, is_shared):
        songs = [self.path("songs")]
        one, two = (lambda: self.tree(songs, "-j1")), (lambda: self.tree(songs, "-j2"))
        if is_shared:
            report.add("gain of a second job, from CPU times", 2 / self.ratios(one, two), 1.85, "x", at_least=True)
        else:
            gains, controls = self.quiet_gains(two)
            print(f"{len(gains)} of {len(controls)} rounds on a quiet machine; two independent processes in all rounds: "
                  f"{min(controls):.2f} to {max(controls):.2f} x", flush=True)
            if len(gains) < self.rounds:
                print("The machine has other load: the gain of a second processor was not measured. Stop other programs, or use "
                      "--shared-machine.", flush=True)
                report.failures += 1
            else:
                report.add("two processors against one", statistics.median(gains), 1.85, "x", at_least=True)
        run(one())
        first = self.output
        run(two())
        comparison = filecmp.dircmp(first, self.output, ignore=[".hemiola-lock"])
        _, different, missing = filecmp.cmpfiles(first, self.output, comparison.common_files, shallow=False)
        count = len(different) + len(missing) + len(comparison.left_only) + len(comparison.right_only)
        report.add("results that differ between one and two jobs", count, 0)

    def quiet_gains(self, two):
        """The gains of a second processor, and those of the control, from up to eight times as many rounds as are needed.

        Control: two independent processes with half of the songs each, on a processor of their own, directly before and after the
        measured run. They share nothing. If they need more than 1 / 1.9 of the time of one process, or differ by more than 5 %,
        something else uses the processors, and the round does not count.
        """
        halves = [sorted(map(str, pathlib.Path(self.path("songs")).iterdir()))[part::2] for part in (0, 1)]

        def pinned(processor, songs):
            # One job alone uses more than one processor: its output is encoded on another thread.
            return ["taskset", "--cpu-list", str(processor), *self.tree(songs, "-j1")]

        def independent():
            start = time.monotonic()
            processes = [
                subprocess.Popen(pinned(processor, half), stdout=subprocess.DEVNULL) for processor, half in enumerate(halves)]
            if any([process.wait() for process in processes]):
                raise SystemExit("an independent process failed")
            return time.monotonic() - start

        gains, controls = [], []
        while len(gains) < self.rounds and len(controls) < 8 * self.rounds:
            first = run(pinned(0, [self.path("songs")]))[0]
            before, both, after = independent(), run(two())[0], independent()
            single = (first + run(pinned(1, [self.path("songs")]))[0]) / 2
            controls.append(2 * single / (before + after))
            if single / max(before, after) >= 1.9 and abs(before / after - 1) <= 0.05:
                gains.append(single / both)
        return gains, controls

    def short_files(self, report):
        def per_file(_):
            few = run(self.tree([self.path("few")]))[1]
            many = run(self.tree([self.path("many")]))[1]
            fresh = sum(run([self.hemiola, "analyze", self.path("short.wav")])[1] for _ in range(20)) / 20
            return (many - few) / 200 / fresh

        value = statistics.median(per_file(index) for index in range(self.rounds))
        report.add("CPU time of a short file, against a fresh process", value, 1 / 3, "x")

    def memory(self, report):
        causal = [*FEATURES, "--analyzer", "visualizer"]
        report.add("peak memory, one job, without beat", peak_memory(self.tree([self.path("long.flac")], *causal)), 30, "MB")
        report.add("peak memory, one job, with beat, causal", peak_memory(self.tree([self.path("long.flac")], "--causal")), 40, "MB")
        songs = [self.path("songs"), self.path("long.flac"), self.path("long.wav")]
        report.add("peak memory per job, two jobs, without beat", peak_memory(self.tree(songs, "-j2", *causal)) / 2, 30, "MB")
        report.add("peak memory per job, two jobs, with beat, causal", peak_memory(self.tree(songs, "-j2", "--causal")) / 2, 40, "MB")

    def long_files(self, report, source):
        limit = self.path("limit")
        subprocess.run(
            ["gcc", "-O3", "-march=x86-64-v3", "-ffast-math", "-o", limit, source, "-lsndfile", "-lfftw3f", "-lm"], check=True)
        for name, bound in [("long.wav", 1.35), ("long.flac", 1.6)]:
            ratio = self.ratios(
                lambda: [limit, self.path(name), "d"], lambda: [self.hemiola, "analyze", self.path(name), *FEATURES])
            report.add(f"CPU time of levels and spectrum, {name}, against C", ratio, bound, "x")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hemiola")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", default=str(HERE / "limit.c"), help="the C program to compare with")
    parser.add_argument("--shared-machine", action="store_true", help="compute the gain of a second job from CPU times")
    arguments = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        benchmark = Benchmark(arguments.hemiola, folder, arguments.rounds)
        benchmark.make_inputs()
        benchmark.gain(report, arguments.shared_machine)
        benchmark.short_files(report)
        benchmark.memory(report)
        benchmark.long_files(report, arguments.limit)
    return min(report.failures, 1)


if __name__ == "__main__":
    sys.exit(main())
