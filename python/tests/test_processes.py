"""Processes of the program: bounded memory, always ended and reaped, no deadlock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import ends, is_running, run_python, wrapper, write_wav

import hemiola_audio
from hemiola_audio import CrashError, HemiolaError, ProgramNotFoundError, analyze, stream

ENDLESS = "tone:sine,seconds=100000"


@pytest.fixture(scope="module")
def hour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An hour of mono at 8 kHz: 28 125 batches."""
    path = tmp_path_factory.mktemp("hour") / "hour.wav"
    noise = np.random.default_rng(2).integers(-8000, 8000, 8000 * 60, dtype=np.int16)
    return write_wav(path, np.tile(noise, 60), 8000)


MEMORY = """
import resource, sys, hemiola_audio, {imports}
path, output = sys.argv[1:]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{code}
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_stream_of_an_hour_has_bounded_memory(hour: Path, tmp_path: Path) -> None:
    code = """
with hemiola_audio.stream(path, analyzers=["levels", "spectrum"]) as records:
    batches = sum(record["type"] == "batch" for record in records)
assert batches == 28125, batches
"""
    grown = int(run_python(MEMORY.format(imports="json", code=code), hour, tmp_path))
    assert grown < 8 * 1024, f"{grown} KiB"


def test_parquet_of_an_hour_has_bounded_memory(hour: Path, tmp_path: Path) -> None:
    code = """
hemiola_audio.stream(path, analyzers=["levels", "spectrum"]).to_parquet(output + "/hour.parquet")
"""
    grown = int(run_python(MEMORY.format(imports="pyarrow.parquet, pyarrow.json", code=code), hour, tmp_path))
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(tmp_path / "hour.parquet")
    assert file.metadata.num_rows == 28125 and file.metadata.num_row_groups > 1
    # One row group: 16 MiB, a few times, while it is written.
    assert grown < 100 * 1024, f"{grown} KiB"


def test_iteration_may_stop_early(hour: Path) -> None:
    records = stream(hour)
    assert records.header["type"] == "header"
    assert next(records)["type"] == "header"
    assert next(records)["type"] == "batch"
    pid = process_of(records)
    records.close()
    assert not is_running(pid)
    assert list(records) == []
    records.close()


def test_exception_in_the_loop_ends_the_program(hour: Path) -> None:
    records = stream(hour)
    pid = process_of(records)
    with pytest.raises(RuntimeError), records:
        for _ in records:
            raise RuntimeError
    assert not is_running(pid)


def test_forgotten_stream_ends_the_program(hour: Path) -> None:
    records = stream(hour)
    next(records)
    pid = process_of(records)
    del records
    assert ends(pid)


def test_generator_exit_ends_the_program(hour: Path) -> None:
    pids = []

    def levels():  # type: ignore[no-untyped-def]
        with stream(hour, analyzers="levels") as records:
            pids.append(process_of(records))
            for record in records:
                yield record

    generator = levels()
    next(generator)
    generator.close()
    assert not is_running(pids[0])


WAITING = """
import sys, time, hemiola_audio
is_live = sys.argv[1] == "listen"
records = hemiola_audio.listen(capture="tone:sine,seconds=100000") if is_live else hemiola_audio.stream(sys.argv[1])
# A file is read once before its first record.
next(records)
try:
    print(records._process.pid, flush=True)
    if is_live:
        for record in records:
            pass
    time.sleep(1000)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("source", ["listen", "file"])
def test_keyboard_interrupt_ends_the_program(hour: Path, source: str) -> None:
    argument = "listen" if source == "listen" else str(hour)
    with subprocess.Popen([sys.executable, "-c", WAITING, argument], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        pid = int(child.stdout.readline())
        assert is_running(pid)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert child.wait(20) == 0
    assert ends(pid)


@pytest.mark.parametrize("source", ["listen", "file"])
def test_killed_python_leaves_no_program(hour: Path, source: str) -> None:
    argument = "listen" if source == "listen" else str(hour)
    with subprocess.Popen([sys.executable, "-c", WAITING, argument], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        pid = int(child.stdout.readline())
        child.kill()
        child.wait()
    assert ends(pid)


def test_killed_program_is_a_crash(hour: Path) -> None:
    records = stream(hour)
    next(records)
    os.kill(process_of(records), signal.SIGKILL)
    with pytest.raises(CrashError, match="was ended by SIGKILL") as caught:
        list(records)
    assert caught.value.exit_code == -signal.SIGKILL


def test_large_standard_error_does_not_block(song: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "yes 'a message of the program' | head -c 20000000 >&2; echo >&2; echo 'hemiola: warning: the last line' >&2"
    monkeypatch.setenv("HEMIOLA", str(wrapper(tmp_path, script)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert analyze(song).end is not None
    text = str(caught[0].message)
    assert text.endswith("the last line") and len(text) < 70_000


def test_program_is_found_by_environment_and_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = wrapper(tmp_path, "")
    monkeypatch.setenv("HEMIOLA", str(named))
    assert hemiola_audio.program() == str(named)
    monkeypatch.delenv("HEMIOLA")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert hemiola_audio.program() == str(named)
    monkeypatch.setenv("HEMIOLA", str(tmp_path / "nothing"))
    with pytest.raises(ProgramNotFoundError, match="not a program; set it"):
        hemiola_audio.program()


def test_missing_program_is_an_error_with_the_remedy(song: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEMIOLA", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProgramNotFoundError, match="install the wheel of hemiola-audio.*or set HEMIOLA"):
        analyze(song)


def test_program_that_cannot_be_started_is_an_error(song: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "hemiola"
    broken.write_text("#!/nonexistent/interpreter\n")
    broken.chmod(0o755)
    monkeypatch.setenv("HEMIOLA", str(broken))
    with pytest.raises(HemiolaError, match="cannot be started: No such file or directory"):
        analyze(song)


def process_of(records: hemiola_audio.Stream) -> int:
    assert records._process is not None
    return records._process.pid
