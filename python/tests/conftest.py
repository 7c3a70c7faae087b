"""Fixtures: the program, sound files, and a check that no process remains."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import hemiola_audio

ROOT = Path(__file__).resolve().parents[2]
MINUET = ROOT / "examples" / "music" / "minuet.flac"


@pytest.fixture(scope="session", autouse=True)
def program() -> str:
    return hemiola_audio.program()


@pytest.fixture(scope="session")
def minuet() -> Path:
    return MINUET


@pytest.fixture(scope="session")
def song(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four seconds of stereo, 16 bits, 44.1 kHz."""
    return write_wav(tmp_path_factory.mktemp("songs") / "song.wav", music(4), 44_100)


@pytest.fixture
def truncated(tmp_path: Path, minuet: Path) -> Path:
    """A FLAC file that ends after 3 of 30 seconds."""
    path = tmp_path / "truncated.flac"
    path.write_bytes(minuet.read_bytes()[:200_000])
    return path


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    """A file that is not audio."""
    path = tmp_path / "notes.wav"
    path.write_text("This is a text.\n" * 20)
    return path


@pytest.fixture(autouse=True)
def no_process_remains() -> Iterator[None]:
    """Every test ends without a running or unreaped child of this process that is a program of Hemiola."""
    yield
    import gc

    gc.collect()
    assert [name for name in child_names() if "hemiola" in name] == []


def child_names() -> list[str]:
    while True:
        try:
            pids = [pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]
            break
        except FileNotFoundError:
            # A thread has ended, and its children belong to another one, which may have been read already.
            continue
    names = []
    for pid in pids:
        try:
            names.append(Path(f"/proc/{pid}/stat").read_text().split(" (")[1].split(")")[0])
        except FileNotFoundError:
            pass
    return names


def music(seconds: float, rate: int = 44_100) -> NDArray[np.int16]:
    """Clicks at 120 per minute over two tones: shape (frames, 2)."""
    t = np.arange(int(seconds * rate)) / rate
    click = np.where(t % 0.5 < 0.01, np.sin(2 * np.pi * 1500 * t), 0)
    left = 0.4 * click + 0.1 * np.sin(2 * np.pi * 220 * t)
    right = 0.4 * click + 0.05 * np.sin(2 * np.pi * 3300 * t)
    return np.round(np.stack([left, right], axis=1) * 32767).astype(np.int16)


def write_wav(path: Path, samples: NDArray[np.int16], rate: int) -> Path:
    frames = samples[:, np.newaxis] if samples.ndim == 1 else samples
    with wave.open(str(path), "wb") as file:
        file.setnchannels(frames.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.ascontiguousarray(frames, dtype="<i2").tobytes())
    return path


def run_program(*arguments: str | Path) -> bytes:
    """The standard output of the program."""
    return subprocess.run(
        [hemiola_audio.program(), *map(str, arguments)], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ).stdout


def run_python(code: str, *arguments: str | Path) -> str:
    """The standard output of Python code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True, timeout=120
    ).stdout


def wrapper(folder: Path, script: str) -> Path:
    """A program that runs shell lines and then the real one."""
    path = folder / "hemiola"
    path.write_text(f"#!/bin/sh\n{script}\nexec '{hemiola_audio.program()}' \"$@\"\n")
    path.chmod(0o755)
    return path


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid: int, seconds: float = 20) -> bool:
    """Whether a process, which need not be a child, ends within so many seconds."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], seconds)[0])
    finally:
        os.close(process)


os.environ.setdefault("PYTHONPATH", str(ROOT / "python"))
