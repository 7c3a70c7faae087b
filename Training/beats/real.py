"""Real validation material with exact beats: songs with game charts, and tracker modules whose rows are beats.

    python -m beats.real OUTPUT charts FOLDER...    folders with song.ogg, guitar.ogg, notes.mid (fretsonfire-songs-sectoid, MIT)
    python -m beats.real OUTPUT modules FILE...     MOD, XM, IT, S3M, played by libopenmpt
    python -m beats.real OUTPUT annotated FOLDER... folders with audio/NAME.* and annotations/NAME.beats (seconds, place in the bar)
    python -m beats.real OUTPUT loops INDEX FOLDER  seamless loops: an index with package, path, duration, meter and beats of each

Each piece becomes excerpts in the format of the renderer. Charts and players have a constant offset: it is measured with the onset
activation and removed. Nothing here is trained on.
"""
import argparse
import csv
import ctypes
import ctypes.util
import json
import zlib
from pathlib import Path

import mido
import numpy as np
import soundfile
from scipy.signal import resample_poly

from .features import FRAME_SECONDS, HOP, SAMPLE_RATE, band_amplitudes, network_input, to_bytes
from .render import pause_while_present
from .scores import seconds_of

EXCERPT_SECONDS, LONGEST = 30.0, 240.0
# Labels are placed where listeners mark them: this much after the attack.
MARKED_LATER = 0.020
LOOP_SECONDS = 60


def read_audio(path):
    audio, rate = soundfile.read(path, dtype="float32", always_2d=True)
    audio = audio.mean(axis=1)
    return audio if rate == SAMPLE_RATE else resample_poly(audio, SAMPLE_RATE, rate).astype(np.float32)


def read_chart(folder):
    """The mixed tracks of a song and the times of the quarter notes of its chart."""
    folder = Path(folder)
    tracks = [read_audio(folder / name) for name in ("song.ogg", "guitar.ogg", "rhythm.ogg") if (folder / name).exists()]
    audio = sum(np.pad(track, (0, max(map(len, tracks)) - len(track))) for track in tracks)
    midi = mido.MidiFile(folder / "notes.mid")
    last = max(sum(message.time for message in track) for track in midi.tracks)
    convert = seconds_of(midi)
    return audio, np.array([convert(ticks) for ticks in range(0, last + 1, midi.ticks_per_beat)])


def play_module(path, longest=LONGEST, block=64):
    """The audio of a tracker module, its rows as played: (seconds, place in the order, pattern, row), and the notes of each pattern:
    per row a list of (channel, note, instrument), where an instrument of 0 is the last one of the channel."""
    library = ctypes.CDLL(ctypes.util.find_library("openmpt"))
    library.openmpt_module_create_from_memory2.restype = ctypes.c_void_p
    library.openmpt_module_read_float_mono.restype = ctypes.c_size_t
    library.openmpt_module_get_pattern_row_channel_command.restype = ctypes.c_uint8
    data = Path(path).read_bytes()
    module = ctypes.c_void_p(library.openmpt_module_create_from_memory2(data, len(data), None, None, None, None, None, None, None))
    if not module.value:
        raise ValueError(f"{path}: libopenmpt cannot read this module")
    buffer = (ctypes.c_float * block)()
    parts, rows, previous, frames = [], [], None, 0
    while frames < longest * SAMPLE_RATE:
        count = library.openmpt_module_read_float_mono(module, SAMPLE_RATE, ctypes.c_size_t(block), buffer)
        if count == 0:
            break
        place = (library.openmpt_module_get_current_order(module), library.openmpt_module_get_current_row(module))
        if place != previous:
            rows.append((frames / SAMPLE_RATE, place[0], library.openmpt_module_get_current_pattern(module), place[1]))
            previous = place
        parts.append(np.frombuffer(buffer, np.float32, count).copy())
        frames += count

    def notes(pattern, row):
        for channel in range(library.openmpt_module_get_num_channels(module)):
            note, instrument = (library.openmpt_module_get_pattern_row_channel_command(module, pattern, row, channel, command)
                                for command in (0, 1))
            if 1 <= note <= 120:  # others end a note
                yield channel, note, instrument

    patterns = {pattern: [list(notes(pattern, row)) for row in range(library.openmpt_module_get_pattern_num_rows(module, pattern))]
                for pattern in {row[2] for row in rows}}
    library.openmpt_module_destroy(module)
    return np.concatenate(parts), rows, patterns


def rows_per_beat(times):
    """Every fourth row is a beat, or the multiple of rows that lies at 70–160 BPM."""
    row_seconds = np.median(np.diff(times))
    return next((step for step in (4, 8, 2, 6, 3, 16) if 70 <= 60 / (row_seconds * step) <= 160), 4)


def read_module(path):
    """The audio of a tracker module and the times of its beats."""
    audio, rows, _ = play_module(path)
    times, numbers = np.array([row[0] for row in rows]), np.array([row[3] for row in rows])
    return audio, times[numbers % rows_per_beat(times) == 0]


def measure_offset(onsets, beats, limit=0.1):
    """The constant time by which the onset activation follows the beats, and how much it stands out there (1: not at all)."""
    lags = np.arange(-int(limit / FRAME_SECONDS), int(limit / FRAME_SECONDS) + 1)
    frames = np.round(beats[:, None] / FRAME_SECONDS).astype(int) + lags
    beats_inside = frames[(frames.min(axis=1) >= 0) & (frames.max(axis=1) < len(onsets))]
    profile = onsets[beats_inside].mean(axis=0)
    return float(lags[profile.argmax()] * FRAME_SECONDS), float(profile.max() / (onsets.mean() + 1e-9))


def write_excerpts(output, name, kind, audio, beats, audio_folder=None):
    audio = audio * (0.5 / (abs(audio).max() + 1e-9))
    bands = band_amplitudes(audio)
    _, onsets = network_input(bands)
    offset, contrast = measure_offset(onsets, beats)
    beats = beats + offset + MARKED_LATER
    print(f"{name}: {len(beats)} beats, {60 / np.median(np.diff(beats)):.1f} BPM, offset {1000 * offset:.0f} ms, contrast {contrast:.1f}")
    if contrast < 2:
        print(f"{name}: left out: the onsets do not follow the beats")
        return
    length = int(EXCERPT_SECONDS / FRAME_SECONDS)
    for first in range(0, len(bands) - length // 2, length):
        part = bands[first:first + length]
        inside = beats[(beats >= first * FRAME_SECONDS) & (beats < (first + len(part)) * FRAME_SECONDS)] - first * FRAME_SECONDS
        if len(inside) < 16 or np.median(part.max(axis=1)) < 1e-4:
            continue
        about = {"piece": name, "style": kind, "fold": -1, "fonts": [kind], "delay": False, "has_onsets": False, "seed": 0}
        stem = f"{zlib.crc32(name.encode()):08x}-{first:06d}"
        if audio_folder:
            soundfile.write(Path(audio_folder) / f"{stem}.flac", audio[first * HOP:(first + len(part)) * HOP], SAMPLE_RATE)
        np.savez_compressed(Path(output) / f"{stem}.npz", beats=inside.astype(np.float32),
                            positions=np.zeros(len(inside), np.int8), onsets=np.zeros(0, np.float32), bands0=to_bytes(part),
                            hop0=np.float32(FRAME_SECONDS), about=json.dumps(about))


def write_annotated(output, folder):
    """The annotated recordings of a folder, one excerpt each, with their labels as they are."""
    for annotation in sorted(Path(folder).glob("annotations/*.beats")):
        rows = np.array([(*line.split(), 0)[:2] for line in annotation.read_text().splitlines() if line.strip()], float)
        found = sorted(Path(folder).glob(f"audio/{annotation.stem}.*"))
        if not found or not len(rows):
            continue
        about = {"piece": annotation.stem, "style": Path(folder).name, "fold": -1, "fonts": [Path(folder).name], "delay": False,
                 "has_onsets": False, "seed": 0}
        np.savez_compressed(Path(output) / f"{annotation.stem}.npz", beats=rows[:, 0].astype(np.float32), positions=rows[:, 1].astype(np.int8),
                            onsets=np.zeros(0, np.float32), bands0=to_bytes(band_amplitudes(read_audio(found[0]))),
                            hop0=np.float32(FRAME_SECONDS), about=json.dumps(about))


def write_loops(output, index, folder):
    """The first minute of each loop: a loop without a seam begins with a bar and lasts for a whole number of beats."""
    for row in csv.DictReader(Path(index).open(), delimiter="\t"):
        path = Path(folder) / row["package"] / row["path"]
        if not path.exists():
            print(f"{path}: missing")
            continue
        count = int(row["beats"])
        beats = np.arange(count) * float(row["duration"]) / count + MARKED_LATER
        audio = read_audio(path)[:LOOP_SECONDS * SAMPLE_RATE]
        beats = beats[beats < len(audio) / SAMPLE_RATE]
        about = {"piece": row["package"], "style": "loops", "fold": -1, "fonts": ["loops"], "delay": False, "has_onsets": False, "seed": 0}
        np.savez_compressed(Path(output) / f"{row['key']}.npz", beats=beats.astype(np.float32), onsets=np.zeros(0, np.float32),
                            positions=(1 + np.arange(len(beats)) % int(row["meter"])).astype(np.int8), bands0=to_bytes(band_amplitudes(audio)),
                            hop0=np.float32(FRAME_SECONDS), about=json.dumps(about))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("kind", choices=["charts", "modules", "annotated", "loops"])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--pause-file", help="wait while this file exists")
    parser.add_argument("--audio", help="write the audio of the excerpts to this folder, for other programs")
    options = parser.parse_args()
    for folder in filter(None, (options.output, options.audio)):
        Path(folder).mkdir(parents=True, exist_ok=True)
    if options.kind == "loops":
        write_loops(options.output, *options.paths)
        return
    for path in options.paths:
        pause_while_present(options.pause_file)
        if options.kind == "annotated":
            write_annotated(options.output, path)
            continue
        try:
            audio, beats = read_chart(path) if options.kind == "charts" else read_module(path)
        except ValueError as error:
            print(error)
            continue
        if len(beats) > 16:
            name = "/".join(Path(path).resolve().parts[-2:])
            write_excerpts(options.output, name, options.kind, audio, beats, options.audio)


if __name__ == "__main__":
    main()
