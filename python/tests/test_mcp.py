"""Tools for agents: the client of the SDK calls them in a server of its own process."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, ImageContent, TextContent

import hemiola_audio
from conftest import ROOT, music, write_wav

Result = TypeVar("Result")


@pytest.fixture
def folder(tmp_path: Path, minuet: Path) -> Path:
    """A folder that may be read, beside files that may not."""
    inner = tmp_path / "music"
    (inner / "below").mkdir(parents=True)
    shutil.copy(minuet, inner / "minuet.flac")
    write_wav(inner / "below" / "clicks.wav", music(6), 44_100)
    (inner / "notes.txt").write_text("no sound")
    shutil.copy(minuet, tmp_path / "secret.flac")
    (inner / "link.flac").symlink_to(tmp_path / "secret.flac")
    (tmp_path / "other").mkdir()
    shutil.copy(minuet, tmp_path / "other" / "secret.flac")
    (inner / "linked").symlink_to(tmp_path / "other")
    return inner


def with_client(folder: Path, calls: Callable[[Client], Awaitable[Result]], *options: str) -> Result:
    async def run() -> Result:
        environment = {"HEMIOLA": hemiola_audio.program(), "PYTHONPATH": str(ROOT / "python")}
        arguments = ["-m", "hemiola_audio", "mcp", *options, str(folder)]
        async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=arguments, env=environment))) as client:
            return await calls(client)

    return asyncio.run(run())


def call(folder: Path, tool: str, arguments: dict[str, Any], *options: str) -> CallToolResult:
    return with_client(folder, lambda client: client.call_tool(tool, arguments), *options)


def values(sound: dict[str, Any]) -> dict[str, Any]:
    return {measurement["name"]: measurement["value"] for measurement in sound["measurements"]}


def content(result: CallToolResult) -> Any:
    assert not result.is_error, result.content
    return result.structured_content


def message(result: CallToolResult) -> str:
    assert result.is_error and isinstance(result.content[0], TextContent)
    return result.content[0].text


def test_tools_are_described(folder: Path) -> None:
    tools = with_client(folder, lambda client: client.list_tools()).tools
    assert {tool.name for tool in tools} == {"analyze_file", "analyze_folder", "listen", "picture"}
    assert all(tool.description for tool in tools)


def test_every_value_of_a_file_has_unit_method_and_frames(folder: Path) -> None:
    sound = content(call(folder, "analyze_file", {"path": "minuet.flac"}))
    assert sound["file"] == str(folder / "minuet.flac") and sound["error"] is None and sound["sample_rate_hz"] == 44_100
    found = values(sound)
    assert found["rhythm.bpm"] == pytest.approx(104.01) and found["rhythm.time_signature"] == 3
    assert found["summaries.musical_key.key"] == "G major" and found["replaygain.track_gain_db"] == pytest.approx(-1.03, abs=0.01)
    for measurement in sound["measurements"]:
        assert measurement["method"].endswith(f"of Hemiola {hemiola_audio.__version__}")
        assert (measurement["first_frame"], measurement["frame_count"]) == (0, 1_329_194)
        assert measurement["unit"] or isinstance(measurement["value"], str)
    units = {measurement["name"]: measurement["unit"] for measurement in sound["measurements"]}
    assert units["rhythm.bpm"] == "BPM" and units["summaries.loudness.integrated_lufs"] == "LUFS"


def test_table_of_a_folder_follows_no_link_out_of_it(folder: Path) -> None:
    table = content(call(folder, "analyze_folder", {}))
    assert [Path(sound["file"]).name for sound in table["sounds"]] == ["clicks.wav", "minuet.flac"]
    assert table["omitted_files"] == 0
    assert values(table["sounds"][0])["rhythm.bpm"] == pytest.approx(120, abs=1)


def test_path_outside_of_the_folders_is_refused(folder: Path) -> None:
    paths = ["../secret.flac", "/etc/passwd", "link.flac", "linked/secret.flac", "below/../../secret.flac"]
    tries = [(tool, path) for tool in ("analyze_file", "picture") for path in paths]
    tries += [("analyze_folder", path) for path in ("..", "/etc", "linked")]

    async def refusals(client: Client) -> list[CallToolResult]:
        return [await client.call_tool(tool, {"path": path}) for tool, path in tries]

    for result in with_client(folder, refusals):
        assert "outside" in message(result)


def test_what_is_no_sound_is_an_error_that_names_it(folder: Path) -> None:
    tries = [("analyze_file", "nothing.flac"), ("analyze_file", "below"), ("analyze_folder", "minuet.flac"), ("picture", "notes.txt")]

    async def results(client: Client) -> list[CallToolResult]:
        calls = [*tries, ("analyze_file", "notes.txt")]
        return [await client.call_tool(tool, {"path": path}) for tool, path in calls]

    *refusals, last = with_client(folder, results)
    for result, (_, path) in zip(refusals, tries, strict=True):
        assert path in message(result)
    sound = content(last)
    assert "notes.txt" in sound["error"] and values(sound)["rhythm.bpm"] is None


def test_what_plays_now(folder: Path) -> None:
    capture = ["--capture", "tone:sine,hz=440"]
    sound = content(call(folder, "listen", {"seconds": 1}, *capture))
    assert sound["duration_s"] == pytest.approx(1, abs=0.05)
    assert values(sound)["features.spectrum.centroid_hz.p50"] == pytest.approx(440, abs=5)
    assert "60" in message(call(folder, "listen", {"seconds": 1e6}, *capture))


def test_picture_is_a_png(folder: Path) -> None:
    result = call(folder, "picture", {"path": "minuet.flac"})
    image = next(item for item in result.content if isinstance(item, ImageContent))
    assert image.mime_type == "image/png" and base64.b64decode(image.data).startswith(b"\x89PNG")


def test_folder_that_does_not_exist_ends_the_command(tmp_path: Path) -> None:
    outcome = subprocess.run(
        [sys.executable, "-m", "hemiola_audio", "mcp", str(tmp_path / "none")],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )
    assert outcome.returncode == 2 and "none: no such folder" in outcome.stderr and len(outcome.stderr.splitlines()) == 1
