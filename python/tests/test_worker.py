"""A warm process for many files."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import MINUET, is_running, music, write_wav

from hemiola_audio import Analysis, CrashError, HemiolaError, InputError, PartialInputWarning, UsageError, Worker, analyze, analyze_many

# Forwards the paths to the program. Is killed with it at a file whose name contains "poison", and once at one that contains "once".
# Interrupts Python when it has forwarded a file "interrupt.wav".
FORWARDING = """#!{python}
import os, signal, subprocess, sys
program, mark = {program!r}, {mark!r}
child = subprocess.Popen([program, *sys.argv[1:]], stdin=subprocess.PIPE)
path = b""
while byte := os.read(0, 1):
    path += byte
    if byte == b"\\0":
        if b"poison" in path or b"once" in path and not os.path.exists(mark):
            if b"once" in path:
                open(mark, "w").close()
            os.killpg(0, signal.SIGKILL)
        child.stdin.write(path)
        child.stdin.flush()
        if path.endswith(b"/interrupt.wav\\0"):
            os.kill(os.getppid(), signal.SIGINT)
        path = b""
child.stdin.close()
sys.exit(child.wait())
"""


@pytest.fixture
def forwarding_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    path = tmp_path / "hemiola"
    path.write_text(FORWARDING.format(python=sys.executable, program=program, mark=str(tmp_path / "crashed")))
    path.chmod(0o755)
    monkeypatch.setenv("HEMIOLA", str(path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve short files."""
    path = tmp_path_factory.mktemp("corpus")
    for number in range(12):
        write_wav(path / f"{number:02}.wav", music(0.5 + number / 10), 44_100)
    return path


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.wav"))


def without_file(result: Analysis) -> list[object]:
    return [{key: value for key, value in record.items() if key not in ("file", "fingerprint")} for record in result]


def test_results_equal_those_of_single_runs(folder: Path) -> None:
    with Worker() as worker:
        for path in files(folder):
            result = worker.analyze(path)
            assert without_file(result) == without_file(analyze(path))
            assert result.header["file"] == str(path)


def test_one_process_for_all_files(folder: Path) -> None:
    with Worker(analyzers="levels") as worker:
        assert worker.pid is None
        pids = set()
        for path in files(folder):
            worker.analyze(path)
            pids.add(worker.pid)
        assert len(pids) == 1
    (pid,) = pids
    assert pid is not None and not is_running(pid) and worker.pid is None


def test_bad_files_in_the_middle(folder: Path, text_file: Path, truncated: Path) -> None:
    with Worker(analyzers="levels") as worker:
        first = worker.analyze(files(folder)[0])
        pid = worker.pid
        with pytest.raises(InputError, match="notes.wav: is not audio") as caught:
            worker.analyze(text_file)
        assert caught.value.exit_code == 1
        with pytest.raises(InputError, match="nothing.wav: no such file"):
            worker.analyze(folder / "nothing.wav")
        with pytest.warns(PartialInputWarning, match="27.075 s too early"):
            partial = worker.analyze(truncated)
        assert partial.error is not None and len(partial.times) == 132
        assert without_file(worker.analyze(files(folder)[0])) == without_file(first)
        assert worker.pid == pid


def test_killed_process_is_replaced(folder: Path) -> None:
    with Worker(analyzers="levels") as worker:
        first = worker.analyze(files(folder)[0])
        pid = worker.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert without_file(worker.analyze(files(folder)[0])) == without_file(first)
        assert worker.pid != pid


@pytest.mark.usefixtures("forwarding_program")
def test_crash_at_a_file_is_an_error_and_the_next_file_succeeds(folder: Path, tmp_path: Path) -> None:
    poison = write_wav(tmp_path / "poison.wav", music(0.5), 44_100)
    once = write_wav(tmp_path / "once.wav", music(0.5), 44_100)
    with Worker(analyzers="levels") as worker:
        worker.analyze(files(folder)[0])
        with pytest.raises(CrashError, match="SIGKILL|exit code -9"):
            worker.analyze(poison)
        assert worker.analyze(files(folder)[1]).end is not None
        assert worker.analyze(once).end is not None


def test_invalid_setting_is_a_usage_error(folder: Path) -> None:
    with Worker(analyzers="nothing") as worker, pytest.raises(UsageError, match="nothing"):
        worker.analyze(files(folder)[0])
    with pytest.raises(UsageError, match="nothing"):
        list(analyze_many(files(folder), analyzers="nothing"))


def test_any_file_name(tmp_path: Path) -> None:
    names = ["line\nfeed.wav", "ünï.wav", os.fsdecode(b"latin-\xe9.wav"), " space.wav", "--option.wav", "a" * 200 + ".wav"]
    with Worker(analyzers="levels") as worker:
        for name in names:
            end = worker.analyze(write_wav(tmp_path / name, music(0.2), 44_100)).end
            assert end is not None and end["frames"] == 8820
        with pytest.raises(ValueError, match="NUL"):
            worker.analyze("a\0b")
        with pytest.raises(ValueError, match="empty"):
            worker.analyze("")


@pytest.mark.usefixtures("forwarding_program")
def test_interrupt_in_a_file_leaves_a_usable_worker(tmp_path: Path, folder: Path) -> None:
    # The interrupt comes before its end.
    long = write_wav(tmp_path / "interrupt.wav", np.zeros((44_100 * 600, 2), dtype=np.int16), 44_100)
    # A shell starts background commands with SIGINT ignored; Python then installs no handler.
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Worker() as worker:
            with pytest.raises(KeyboardInterrupt):
                worker.analyze(long)
            assert worker.analyze(files(folder)[0]).header["file"] == str(files(folder)[0])
    finally:
        signal.signal(signal.SIGINT, previous)


def test_threads_take_turns(folder: Path) -> None:
    results: dict[Path, Analysis] = {}
    with Worker(analyzers="levels") as worker:
        threads = [threading.Thread(target=lambda path=path: results.__setitem__(path, worker.analyze(path))) for path in files(folder)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {path: result.header["file"] for path, result in results.items()} == {path: str(path) for path in files(folder)}


@pytest.mark.parametrize("jobs", [1, 2, 0])
def test_many_in_the_order_of_the_paths(folder: Path, jobs: int) -> None:
    paths = [*files(folder), *reversed(files(folder))]
    results = list(analyze_many(paths, jobs=jobs))
    assert [result.header["file"] for result in results] == [str(path) for path in paths]
    for path, result in zip(paths[:3], results):
        assert without_file(result) == without_file(analyze(path))


def test_many_reads_ahead_within_a_limit(folder: Path) -> None:
    taken = 0

    def endless() -> Iterator[Path]:
        nonlocal taken
        for path in itertools.cycle(files(folder)):
            taken += 1
            yield path

    results = analyze_many(endless(), analyzers="levels")
    for number in range(1, 31):
        next(results)
        assert taken <= number + 4
    results.close()  # type: ignore[attr-defined]


def test_many_with_long_paths_does_not_block(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(14):
        folder = folder / ("d" * 250)
    folder.mkdir(parents=True)
    path = write_wav(folder / "a.wav", music(0.2), 44_100)
    results = list(analyze_many([path] * 60, jobs=16, analyzers="levels"))
    assert len(results) == 60


def test_many_raises_the_first_error(folder: Path, text_file: Path) -> None:
    results = analyze_many([files(folder)[0], text_file, files(folder)[1]], analyzers="levels")
    assert next(results).end is not None
    with pytest.raises(InputError, match="is not audio"):
        next(results)
    assert list(results) == []


def test_many_returns_exceptions_in_their_places(folder: Path, text_file: Path, truncated: Path) -> None:
    paths = [files(folder)[0], text_file, truncated, folder / "nothing.wav", files(folder)[1]]
    with pytest.warns(PartialInputWarning):
        results = list(analyze_many(paths, analyzers="levels", return_exceptions=True))
    assert [type(result) for result in results] == [Analysis, InputError, Analysis, InputError, Analysis]


def test_many_ends_its_process_when_it_is_closed(folder: Path) -> None:
    results = analyze_many(itertools.cycle(files(folder)))
    next(results)
    results.close()  # type: ignore[attr-defined]
    # The fixture checks that no process remains.


def test_many_with_an_error_of_the_paths(folder: Path) -> None:
    def paths() -> Iterator[Path]:
        yield files(folder)[0]
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        list(analyze_many(paths(), analyzers="levels"))


@pytest.mark.usefixtures("forwarding_program")
@pytest.mark.parametrize("jobs", [1, 2])
def test_many_after_crashes(folder: Path, tmp_path: Path, jobs: int) -> None:
    """Only the file at which the program crashes has an error; the files beside it have their results."""
    good = files(folder)[:6]
    poison = write_wav(tmp_path / "poison.wav", music(0.5), 44_100)
    once = write_wav(tmp_path / "once.wav", music(0.5), 44_100)
    paths = [*good[:3], poison, *good[3:5], once, good[5], poison]
    results: list[Analysis | HemiolaError] = list(analyze_many(paths, jobs=jobs, analyzers="levels", return_exceptions=True))
    assert [isinstance(result, Analysis) for result in results] == [path != poison for path in paths]
    for path, result in zip(paths, results):
        if isinstance(result, Analysis):
            assert result.header["file"] == str(path)
        else:
            assert isinstance(result, CrashError)


def test_large_standard_error_does_not_block(folder: Path, text_file: Path) -> None:
    """More messages than a pipe contains, while nothing reads them."""
    paths = [text_file] * 3000 + [MINUET]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = list(analyze_many(paths, analyzers="levels", return_exceptions=True))
    assert len(results) == 3001 and isinstance(results[-1], Analysis)


def test_folder_among_the_paths_is_an_error_in_its_place(folder: Path) -> None:
    first, second = files(folder)[:2]
    results = list(analyze_many([first, folder, second], return_exceptions=True))
    assert [type(result) is Analysis for result in results] == [True, False, True]
    assert isinstance(results[1], InputError) and isinstance(results[1], IsADirectoryError)
