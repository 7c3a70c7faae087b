"""Live analysis, from a generated signal and from a private sound server."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import is_running, music, write_wav

from hemiola_audio import InputError, UsageError, listen


def test_records_of_a_generated_signal() -> None:
    with listen(capture="tone:sine", select="levels.rms_db") as records:
        assert records.header["source"]["kind"] == "tone"
        levels = [record["levels"]["rms_db"] for record, _ in zip(records, range(20)) if record["type"] == "batch"]
        pid = records._process.pid if records._process else 0
    assert len(levels) >= 18 and max(levels) > -30
    assert not is_running(pid)


def test_end_of_the_source_ends_the_iteration() -> None:
    for end in (",seconds=0.2", ""):
        records = list(listen(capture=f"tone:sine{end}", analyzers="levels", duration=None if end else 0.2))
        assert records[0]["type"] == "header" and records[-1]["type"] == "end"


def test_unknown_capture_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="nothing"):
        next(listen(capture="nothing"))


def test_no_sound_server_is_an_input_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULSE_SERVER", f"unix:{tmp_path}/nothing")
    with pytest.raises(InputError):
        next(listen())


@pytest.fixture
def sound_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A PulseAudio server of this test with one null sink."""
    if shutil.which("pulseaudio") is None and os.environ.get("CI") != "true":
        pytest.skip("pulseaudio is not installed")
    home = tmp_path / "sound"
    home.mkdir(mode=0o700)
    socket = home / "native"
    environment = {**os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "XDG_CONFIG_HOME": str(home)}
    environment |= {"PULSE_SERVER": f"unix:{socket}", "LC_ALL": "C"}
    command = ["pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disallow-exit=yes", "--disable-shm=yes"]
    command += ["--realtime=no", "--high-priority=no", "--log-level=info", "--log-target=stderr"]
    command += ["-L", "module-null-sink sink_name=stage rate=44100 channels=2"]
    command += ["-L", f"module-native-protocol-unix auth-anonymous=1 socket={socket}"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            assert any("startup complete" in line for line in server.stderr)
            monkeypatch.setenv("PULSE_SERVER", f"unix:{socket}")
            monkeypatch.setenv("HOME", str(home))
            monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
            yield
        finally:
            server.kill()


def test_sound_of_this_computer(sound_server: None, tmp_path: Path) -> None:
    song = write_wav(tmp_path / "song.wav", music(10), 44_100)
    with listen("stage", select="levels.rms_db") as records:
        assert records.header["source"]["kind"] == "pulse"
        player = subprocess.Popen(["pacat", "--playback", "--device=stage", "--file-format=wav", str(song)])
        try:
            deadline = time.monotonic() + 20
            loudest = -120.0
            for record in records:
                if record["type"] == "batch" and record["levels"]["rms_db"] is not None:
                    loudest = max(loudest, record["levels"]["rms_db"])
                if loudest > -30 or time.monotonic() > deadline:
                    break
        finally:
            player.kill()
            player.wait()
    assert loudest > -30
