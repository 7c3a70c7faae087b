"""Checks the pipeline on a cluster of two workers on this machine.

One worker and one process of Hemiola are killed in the middle. Every file must have exactly one row, equal to the records of
`hemiola analyze` without Ray. Then the same corpus is analysed from URLs.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from typing import Any

import numpy as np
import pyarrow.parquet
import ray
import ray.data
from ray.cluster_utils import Cluster

import hemiola_audio
import pipeline

MINUET = pathlib.Path(__file__).resolve().parents[1] / "music" / "minuet.flac"
MARK = f"HEMIOLA_RAY_CHECK={uuid.uuid4()}"
FILES = 60


def make_corpus(folder: pathlib.Path) -> list[str]:
    """Copies of the minuet, a truncated one, a text, and the name of a missing file."""
    content = MINUET.read_bytes()
    for number in range(FILES):
        (folder / f"{number:03}.flac").write_bytes(content)
    (folder / "truncated.flac").write_bytes(content[:200_000])
    (folder / "text.wav").write_text("This is a text.\n" * 10)
    return [*pipeline.sound_files(str(folder)), str(folder / "missing.flac")]


def expected_rows(files: list[str]) -> dict[str, dict[str, Any]]:
    """Rows from the records of one run of the program."""
    command = [hemiola_audio.program(), "analyze", "-q", "-j0", "--files-from", "-", "--null"]
    output = subprocess.run(command, input="\0".join(files).encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    rows: dict[str, dict[str, Any]] = {name: {"file": name, "beats": [], "onsets": []} for name in files}
    for line in output.splitlines():
        record = json.loads(line)
        row = rows[record["file"]]
        if record["type"] == "batch":
            for analyzer, values in record.items():
                if isinstance(values, dict):
                    for name, value in values.items():
                        row.setdefault(f"{analyzer}.{name}", []).append(value)
        elif record["type"] in ("beat", "onset"):
            row[record["type"] + "s"].append(record["t"])
        elif record["type"] == "end":
            row["duration_s"] = record["t"]
    return rows


def processes(name: str) -> list[tuple[int, int]]:
    """The processes of this check with this name: (identifier, parent)."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if MARK.encode() in (folder / "environ").read_bytes().split(b"\0"):
                head, tail = (folder / "stat").read_text().rsplit(")", 1)
                if head.split("(", 1)[1] == name and tail.split()[0] != "Z":
                    found.append((int(folder.name), int(tail.split()[1])))
        except OSError:
            pass
    return found


def kill_in_the_middle(killed: list[str], is_done: threading.Event) -> None:
    """Kills a worker, then a process of Hemiola, after each has begun."""
    for what in ("worker", "program"):
        while len(programs := processes("hemiola")) < 2:
            if is_done.wait(0.02):
                return
        if is_done.wait(0.5):
            return
        programs = processes("hemiola")
        if programs:
            pid, parent = programs[0]
            os.kill(parent if what == "worker" else pid, signal.SIGKILL)
            killed.append(what)
            print(f"killed a {what}", flush=True)


def numbers(value: Any) -> np.ndarray:
    return np.array(value, dtype=np.float64).astype(np.float32)


def compare(output: str, expected: dict[str, dict[str, Any]]) -> None:
    rows = pyarrow.parquet.read_table(output).to_pylist()
    assert sorted(row["file"] for row in rows) == sorted(expected), "a file is missing or has two rows"
    features = [name for name in rows[0] if "." in name]
    assert len(features) > 20
    for row in rows:
        known = expected[row["file"]]
        name = os.path.basename(row["file"])
        if name in ("text.wav", "missing.flac"):
            assert row["error"] and row["levels.rms_db"] is None, row["error"]
            continue
        assert bool(row["error"]) == (name == "truncated.flac"), row["error"]
        assert row["duration_s"] == known["duration_s"]
        assert row["beats"] == known["beats"] and row["onsets"] == known["onsets"], name
        for feature in features:
            np.testing.assert_array_equal(numbers(row[feature]), numbers(known[feature]), err_msg=f"{name}: {feature}")


def main() -> None:
    work = pathlib.Path(tempfile.mkdtemp())
    os.environ.update([MARK.split("=")])
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_DEDUP_LOGS="0", RAY_DATA_DISABLE_PROGRESS_BARS="1")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 100 << 20, "include_dashboard": False})
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=2, object_store_memory=200 << 20)
        ray.init(address=cluster.address, log_to_driver=False)
        cluster.wait_for_nodes()
        (work / "corpus").mkdir()
        files = make_corpus(work / "corpus")
        expected = expected_rows(files)

        killed: list[str] = []
        is_done = threading.Event()
        thread = threading.Thread(target=kill_in_the_middle, args=(killed, is_done))
        thread.start()
        start = time.monotonic()
        dataset = ray.data.from_items([{"file": name} for name in files], override_num_blocks=8)
        pipeline.analyze_corpus(dataset, str(work / "rows"), 2, {})
        is_done.set()
        thread.join()
        print(f"{len(files)} files in {time.monotonic() - start:.1f} s with 2 workers")
        assert killed == ["worker", "program"], f"killed only {killed}: the run was too short"
        compare(str(work / "rows"), expected)
        print("killed worker and killed program: every file has one row, equal to that of one machine")

        urls = ["file://" + name for name in files[-4:]]
        pipeline.analyze_corpus(ray.data.from_items([{"file": url} for url in urls]), str(work / "urls"), 1, {})
        compare(str(work / "urls"), {url: expected[url.removeprefix("file://")] for url in urls})
        print("URLs: the same rows")
    finally:
        ray.shutdown()
        cluster.shutdown()
        shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())
