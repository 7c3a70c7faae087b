"""Measures the cost of the pipeline per hour of audio, without Ray: processor time of the program and of Python, bytes read and written.

    python measure.py [SECONDS]      # length of the files, default 240; needs sox, flac and ffmpeg

Prints one line per format and selection. Processor time, unlike elapsed time, hardly depends on other programs of the machine.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any

import pyarrow
import pyarrow.parquet

import hemiola_audio
import pipeline

MINUET = pathlib.Path(__file__).resolve().parents[1] / "music" / "minuet.flac"
RUNS = 5
SELECTIONS: dict[str, dict[str, Any]] = {
    "all analyzers, causal": {"whole_file": False},
    "levels + spectrum": {"analyzers": ["levels", "spectrum"]},
    "six numbers": {
        "analyzers": ["levels", "spectrum:bands=0", "beat"],
        "whole_file": False,
        "select": "levels.rms_db,spectrum.centroid_hz,spectrum.rolloff_hz,spectrum.flatness,spectrum.flux,beat.bpm",
    },
    "all analyzers, whole file": {},
}


def processor_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 240
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        wav = folder / "song.wav"
        subprocess.run(["sox", MINUET, wav, "repeat", str(seconds // 30), "trim", "0", str(seconds)], check=True)
        subprocess.run(["flac", "-s", wav, "-o", folder / "song.flac"], check=True)
        subprocess.run(["ffmpeg", "-v", "error", "-i", wav, "-b:a", "192k", folder / "song.mp3"], check=True)
        hours = seconds / 3600
        print("format selection             program_s/h python_s/h files/s/core  MB_read/h MB_json/h MB_parquet/h")
        for selection, options in SELECTIONS.items():
            for path in (wav, folder / "song.flac", folder / "song.mp3"):
                measure(path, selection, options, hours, folder)


def measure(path: pathlib.Path, selection: str, options: dict[str, Any], hours: float, folder: pathlib.Path) -> None:
    schema = pipeline.schema_of(options)
    with hemiola_audio.Worker(**options) as worker:
        worker.analyze(path)
        assert worker.pid is not None
        program, python = processor_seconds(worker.pid), time.process_time()
        size = 0
        for _ in range(RUNS):
            result = worker.analyze(path)
            table = pipeline.row_of(str(path), result, schema)
        python = (time.process_time() - python) / RUNS
        program = (processor_seconds(worker.pid) - program) / RUNS
        size = sum(len(line) for line in result._lines)
    pyarrow.parquet.write_table(table, folder / "out.parquet")
    written = (folder / "out.parquet").stat().st_size
    mega = [count / hours / 1e6 for count in (path.stat().st_size, size, written)]
    print(
        f"{path.suffix[1:]:6} {selection:20} {program / hours:12.1f} {python / hours:10.1f} {1 / (program + python):12.2f} "
        f"{mega[0]:10.0f} {mega[1]:9.1f} {mega[2]:12.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
