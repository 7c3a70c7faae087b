"""Tools for agents: a server of the Model Context Protocol on standard input and output."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from ._errors import HemiolaError, error
from ._process import Process, output_of
from ._records import Record, decode

_MOST_FILES = 200
_LONGEST_SECONDS = 60.0
# The files of a folder. The program finds more, but also behind links that lead out of the folder.
_SOUNDS = (".aac", ".aif", ".aiff", ".ape", ".flac", ".m4a", ".mp3", ".mpc", ".oga", ".ogg", ".opus", ".wav", ".wma", ".wv")

# The values that are reported: path in a summary, unit, analyzer, and what it is.
_VALUES = (
    ("rhythm.bpm", "BPM", "beat", "tempo; of several, that with most beats"),
    ("rhythm.tempo_sections", "parts", "beat", "number of parts with a tempo of their own"),
    ("rhythm.time_signature", "beats", "beat", "beats in most bars"),
    ("rhythm.beats", "beats", "beat", "number of beats"),
    ("rhythm.first_beat_s", "s", "beat", "time of the first beat"),
    ("summaries.musical_key.key", "", "musical-key", "key, by the mean chroma"),
    ("summaries.musical_key.camelot", "", "musical-key", "key in Camelot's notation"),
    ("summaries.musical_key.confidence", "probability", "musical-key", "probability of the key, among all 24"),
    ("summaries.loudness.integrated_lufs", "LUFS", "loudness", "integrated loudness by ITU-R BS.1770-4"),
    ("summaries.loudness.range_lu", "LU", "loudness", "loudness range by EBU Tech 3342"),
    ("summaries.loudness.true_peak_dbtp", "dBTP", "loudness", "largest true peak"),
    ("replaygain.track_gain_db", "dB", "loudness", "gain to -18 LUFS (ReplayGain 2.0)"),
    ("summaries.levels.rms_db", "dBFS", "levels", "RMS level of the mono mix"),
    ("features.spectrum.centroid_hz.p50", "Hz", "spectrum", "median of the spectral centroid of the batches"),
)
_SELECT = ",".join(["duration_s", "sample_rate", "frames", "hemiola", "tags", *(path for path, *_ in _VALUES)])
_SUMMARY = ["--analyzer=+loudness", "--analyzer=+musical-key"]


class Measurement(BaseModel):
    """A value with its unit, its method and the frames that it was computed from. null: there is none, as no tempo in silence."""

    name: str
    value: int | float | str | None
    unit: str
    method: str
    first_frame: int
    frame_count: int


class Sound(BaseModel):
    """The measurements of a file, or of what was played."""

    file: str
    error: str | None = Field(description="Why it was not analysed, or not to its end.")
    sample_rate_hz: int | None
    duration_s: float | None
    tags: dict[str, str | int]
    measurements: list[Measurement]


class Table(BaseModel):
    """The sounds of a folder."""

    sounds: list[Sound]
    omitted_files: int = Field(description="Files that were not analysed, because the table would be too long.")


def server(folders: Sequence[Path], capture: str | None) -> MCPServer:
    """The server.

    folders: the only ones whose files it reads.
    capture: what it hears; None: what this computer plays.
    """
    roots = [folder.resolve(strict=True) for folder in folders]
    result = MCPServer(
        "hemiola",
        instructions="Measures music: tempo, key, loudness, spectrum. It reads files in these folders: " + ", ".join(map(str, roots)),
        log_level="WARNING",
    )

    def allowed(path: str) -> Path:
        # Relative paths are those of the first folder. Links are followed before the check.
        found = (roots[0] / path).resolve()
        if not any(found.is_relative_to(root) for root in roots):
            raise ToolError(f"{path}: outside of the folders that can be read: {', '.join(map(str, roots))}")
        return found

    def allowed_file(path: str) -> str:
        found = allowed(path)
        if not found.is_file():
            raise ToolError(f"{path}: no such file")
        return str(found)

    @result.tool()
    def analyze_file(path: str) -> Sound:
        """Measure tempo, bars, key, loudness, level and brightness of a sound file."""
        return _summaries([allowed_file(path)])[0]

    @result.tool()
    def analyze_folder(path: str = ".") -> Table:
        """Measure all sound files in a folder and below it, at most 200: the same values as of a file, for each."""
        files = sorted(_sound_files(allowed(path), allowed))
        if not files:
            raise ToolError(f"{path}: no sound files")
        chosen = files[:_MOST_FILES]
        return Table(sounds=_summaries(chosen), omitted_files=len(files) - len(chosen))

    @result.tool()
    def listen(seconds: Annotated[float, Field(ge=1, le=_LONGEST_SECONDS)] = 10) -> Sound:
        """Measure what this computer plays now, for some seconds. A tempo needs about 5 s, a loudness range 10 s."""
        source = [] if capture is None else [f"--capture={capture}"]
        sink = f"--sink=summary:select={_SELECT.replace(',', '+')}"
        return _sounds(["listen", "--no-defaults", *source, f"--duration={seconds:.3f}", *_SUMMARY, sink])[0]

    @result.tool()
    def picture(path: str) -> Image:
        """Draw the spectrogram and the waveform of a sound file over time, with its beats."""
        with tempfile.TemporaryDirectory() as folder:
            image = os.path.join(folder, "picture.png")
            try:
                output_of(["render", "--size=1000x500", f"--output={image}", "--", allowed_file(path)])
            except HemiolaError as fault:
                raise ToolError(str(fault)) from fault
            return Image(data=Path(image).read_bytes(), format="png")

    return result


def _sound_files(folder: Path, allowed: Callable[[str], Path]) -> Iterator[str]:
    """The sound files in a folder and below it that can be read. Links to folders are not followed."""
    if not folder.is_dir():
        raise ToolError(f"{folder.name}: not a folder")
    for place, _, names in os.walk(folder):
        for name in names:
            if name.lower().endswith(_SOUNDS) and not name.startswith("."):
                try:
                    yield str(allowed(os.path.join(place, name)))
                except ToolError:
                    continue


def _summaries(files: Sequence[str]) -> list[Sound]:
    return _sounds(["analyze", "--summary", *_SUMMARY, f"--select={_SELECT}", "--", *files])


def _sounds(arguments: Sequence[str]) -> list[Sound]:
    process = Process(arguments)
    try:
        lines = process.read().splitlines()
        exit_code, message = process.wait()
    finally:
        process.close()
    # 1: some files failed or were incomplete, which their records tell.
    if not lines or exit_code > 1:
        raise ToolError(str(error(exit_code, message)))
    return [_sound(decode(line)) for line in lines]


def _sound(record: Record) -> Sound:
    measurements = []
    for path, unit, analyzer, description in _VALUES:
        value: Any = record
        for key in path.split("."):
            value = value[key]
        method = f"{description}; analyzer {analyzer} of Hemiola {record['hemiola']}"
        frames = record["frames"] or 0
        measurements.append(Measurement(name=path, value=value, unit=unit, method=method, first_frame=0, frame_count=frames))
    return Sound(
        file=record["file"],
        error=record["error"],
        sample_rate_hz=record["sample_rate"],
        duration_s=record["duration_s"],
        tags={key: value for key, value in record["tags"].items() if value is not None},
        measurements=measurements,
    )
