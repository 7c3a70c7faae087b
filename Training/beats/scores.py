"""Reads scores: MusicXML, POP909, Groove MIDI and MIDI files with a tempo map. Times are in beats; beat 0 is the first beat."""
import csv
import io
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import mido
import numpy as np

STEPS = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}
# Pitch classes above the root by the first match of a MusicXML harmony kind.
CHORDS = [
    ("half-diminished", (0, 3, 6, 10)), ("diminished", (0, 3, 6, 9)), ("augmented", (0, 4, 8)), ("suspended-second", (0, 2, 7)),
    ("suspended", (0, 5, 7)), ("major-minor", (0, 3, 7, 11)), ("minor-sixth", (0, 3, 7, 9)), ("minor-", (0, 3, 7, 10)),
    ("minor", (0, 3, 7)), ("major-sixth", (0, 4, 7, 9)), ("major-", (0, 4, 7, 11)), ("dominant", (0, 4, 7, 10)), ("", (0, 4, 7)),
]


@dataclass
class Track:
    """Notes as rows (start, end, pitch, velocity) in beats, sorted by start."""
    notes: np.ndarray
    program: int = 0
    is_drums: bool = False


@dataclass
class Score:
    """`positions[k]` is beat k's place in its bar, from 1; 0 if unknown. `tempo` in beats per minute, None if the score has none."""
    tracks: list
    positions: np.ndarray
    tempo: float | None = None
    # Chords as rows (start, end, tuple of pitch classes, root first), in beats.
    chords: list = field(default_factory=list)

    def window(self, first, count):
        """The beats first ..< first + count, as a score of its own."""
        tracks = []
        for track in self.tracks:
            notes = track.notes[(track.notes[:, 0] > first - 0.02) & (track.notes[:, 0] < first + count - 0.02)].copy()
            notes[:, :2] = np.maximum(notes[:, :2] - first, 0)
            tracks.append(Track(notes, track.program, track.is_drums))
        chords = [(start - first, min(end - first, count), chord) for start, end, chord in self.chords
                  if -1e-6 <= start - first < count]
        return Score(tracks, self.positions[first:first + count], self.tempo, chords)


def sorted_notes(rows):
    notes = np.array(rows, float).reshape(-1, 4)
    return notes[np.argsort(notes[:, 0], kind="stable")]


def beat_unit(beats, unit):
    """The length of a beat in quarter notes and the beats in a bar of a time signature; None where listeners do not agree."""
    if unit == 8 and beats in (6, 9, 12):
        return 1.5, beats // 3
    if (beats, unit) in ((2, 4), (3, 4), (4, 4), (2, 2), (3, 2), (4, 2)):
        return 4 / unit, beats
    return None


def read_musicxml(path):
    """All runs of at least 12 whole measures with one time signature, as scores."""
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".xml") and not name.startswith("META-INF"))
        root = ElementTree.parse(io.BytesIO(archive.read(name))).getroot()
    parts = [_read_part(part) for part in root.iter("part")]
    parts = [part for part in parts if part]
    if not parts:
        return []
    runs, first = [], None
    count = min(len(part) for part in parts)
    for index in range(count + 1):
        time = parts[0][index]["time"] if index < count else None
        is_whole = time is not None and beat_unit(*time) is not None and abs(
            max(part[index]["length"] for part in parts) - time[0] * 4 / time[1]) < 1e-6
        if first is not None and not (is_whole and time == parts[0][first]["time"]):
            if index - first >= 12:
                runs.append(_score_of(parts, first, index))
            first = None
        if is_whole and first is None:
            first = index
    return [run for run in runs if run.tracks]


def _score_of(parts, first, end):
    """The measures first ..< end as a score."""
    unit, meter = beat_unit(*parts[0][first]["time"])
    tracks, chords, tempo = [], [], None
    for part in parts:
        rows = []
        for index in range(first, end):
            measure, start = part[index], (index - first) * meter
            rows += [(start + onset / unit, start + (onset + length) / unit, pitch, 80)
                     for onset, length, pitch in measure["notes"]]
            chords += [(start + onset / unit, chord) for onset, chord in measure["chords"]]
            tempo = tempo or (measure["tempo"] and measure["tempo"] / unit)
        tracks.append(Track(sorted_notes(rows)))
    total = (end - first) * meter
    chords.sort()
    ends = [start for start, _ in chords[1:]] + [total]
    chords = [(start, end, chord) for (start, chord), end in zip(chords, ends) if end > start]
    return Score([track for track in tracks if len(track.notes)], 1 + np.arange(total) % meter, tempo, chords)


def _read_part(part):
    divisions, time, transposition = 1.0, None, 0
    measures = []
    for measure in part.iter("measure"):
        at, longest, last = 0.0, 0.0, 0.0
        notes, chords, tempo, ties = [], [], None, {}
        for item in measure:
            if item.tag == "attributes":
                divisions = float(item.findtext("divisions") or divisions)
                if item.find("time/beats") is not None and (item.findtext("time/beats") or "").isdigit():
                    time = (int(item.findtext("time/beats")), int(item.findtext("time/beat-type")))
                if item.find("transpose") is not None:
                    transposition = int(item.findtext("transpose/chromatic") or 0)
            elif item.tag in ("backup", "forward"):
                at += float(item.findtext("duration")) / divisions * (1 if item.tag == "forward" else -1)
            elif item.tag == "harmony" and item.find("root/root-step") is not None:
                pitch = STEPS[item.findtext("root/root-step")] + int(float(item.findtext("root/root-alter") or 0))
                kind = item.findtext("kind") or ""
                shape = next(shape for prefix, shape in CHORDS if kind.startswith(prefix))
                chords.append((at, tuple((pitch + step) % 12 for step in shape)))
            elif item.tag == "note" and item.find("grace") is None:
                length = float(item.findtext("duration") or 0) / divisions
                start = last if item.find("chord") is not None else at
                if item.find("pitch") is not None and item.find("cue") is None:
                    pitch = (12 * (int(item.findtext("pitch/octave")) + 1) + STEPS[item.findtext("pitch/step")]
                             + int(float(item.findtext("pitch/alter") or 0)) + transposition)
                    if not any(tie.get("type") == "stop" for tie in item.findall("tie")):
                        notes.append((start, length, pitch))
                if item.find("chord") is None:
                    last, at = at, at + length
            sound = item if item.tag == "sound" else item.find("sound")
            if sound is not None and sound.get("tempo"):
                tempo = tempo or float(sound.get("tempo"))
            longest = max(longest, at)
        measures.append({"notes": notes, "chords": chords, "length": longest, "time": time, "tempo": tempo})
    return measures


def read_pop909(folder):
    """A POP909 arrangement; None if MIDI and audio tempi differ, or if the chords do not change on the marked downbeats."""
    folder = Path(folder)
    beats = np.loadtxt(folder / "beat_midi.txt")
    audio_beats = np.loadtxt(folder / "beat_audio.txt")
    ratio = np.median(np.diff(beats[:, 0])) / np.median(np.diff(audio_beats[:, 0]))
    if abs(ratio - 1) > 0.03 or len(beats) < 64:
        return None
    midi = mido.MidiFile(folder / f"{folder.name}.mid")
    indices = np.arange(len(beats))
    tracks = []
    for track in midi.tracks:
        rows = [row[:4] for row in _note_rows(track, seconds_of(midi))]
        if rows:
            notes = np.array(rows, float)
            notes[:, :2] = np.interp(notes[:, :2], beats[:, 0], indices, left=-1, right=len(beats) + 1)
            tracks.append(Track(sorted_notes(notes[(notes[:, 0] >= 0) & (notes[:, 0] < len(beats))])))
    chords = []
    for line in (folder / "chord_midi.txt").read_text().splitlines():
        start, _, name = line.split("\t")
        if name != "N":
            chords.append((float(np.interp(float(start), beats[:, 0], indices)), _pop909_chord(name)))
    positions = np.zeros(len(beats), int)
    marked = np.flatnonzero(beats[:, 2] == 1)
    # The longest run of downbeats that are 4 beats apart.
    breaks = np.flatnonzero(np.diff(marked) != 4) + 1
    run = max(np.split(marked, breaks), key=len)
    if len(run) > 8:
        first, end = run[0], run[-1] + 4
        changes = np.bincount([round(start - first) % 4 for start, _ in chords if first <= start < end], minlength=4)
        if changes.argmax() == 0 and changes[0] >= 0.42 * changes.sum():
            positions[first:end] = 1 + np.arange(end - first)[:len(positions) - first] % 4
    ends = [start for start, _ in chords[1:]] + [len(beats)]
    chords = [(start, end, chord) for (start, chord), end in zip(chords, ends)]
    return Score(tracks, positions, 60 / np.median(np.diff(beats[:, 0])), chords)


def _pop909_chord(name):
    root, _, kind = name.partition(":")
    pitch = STEPS[root[0]] + root.count("#") - root.count("b")
    shape = (0, 3, 6) if kind.startswith("dim") else (0, 3, 7) if kind.startswith("min") else (0, 4, 7)
    return tuple((pitch + step) % 12 for step in shape)


def _note_rows(track, convert=float):
    """The notes of a MIDI track as (start, end, pitch, velocity, channel); `convert` makes times of ticks."""
    ticks, started = 0, {}
    for message in track:
        ticks += message.time
        if message.type == "note_on" and message.velocity:
            started.setdefault((message.channel, message.note), []).append((ticks, message.velocity))
        elif message.type in ("note_on", "note_off") and started.get((message.channel, message.note)):
            start, velocity = started[(message.channel, message.note)].pop(0)
            yield convert(start), convert(ticks), message.note, velocity, message.channel


def seconds_of(midi):
    """The function from ticks to seconds of a MIDI file's tempo map."""
    changes = []
    for track in midi.tracks:
        ticks = 0
        for message in track:
            ticks += message.time
            if message.type == "set_tempo":
                changes.append((ticks, message.tempo))
    changes = sorted(changes) or [(0, 500_000)]
    if changes[0][0]:
        changes.insert(0, (0, 500_000))
    starts = np.array([ticks for ticks, _ in changes], float)
    rates = np.array([tempo for _, tempo in changes]) / 1e6 / midi.ticks_per_beat
    times = np.concatenate([[0], np.cumsum(np.diff(starts) * rates[:-1])])

    def convert(ticks):
        index = np.searchsorted(starts, ticks, side="right") - 1
        return times[index] + (ticks - starts[index]) * rates[index]

    return convert


# Notes of the Roland kit of Groove MIDI that General MIDI lacks.
GROOVE_NOTES = {22: 42, 26: 46, 58: 43}


def read_groove(folder):
    """All performances of at least 14 s in 4/4 or 3/4: (path, Score)."""
    for row in csv.DictReader((Path(folder) / "info.csv").open()):
        if row["beat_type"] != "beat" or float(row["duration"]) < 14 or row["time_signature"] not in ("4-4", "3-4"):
            continue
        path = Path(folder) / row["midi_filename"]
        if not path.exists():
            continue
        midi = mido.MidiFile(path)
        rows = [row[:4] for track in midi.tracks for row in _note_rows(track)]
        notes = sorted_notes([(start / midi.ticks_per_beat, end / midi.ticks_per_beat, GROOVE_NOTES.get(int(pitch), pitch), velocity)
                              for start, end, pitch, velocity in rows])
        # Drummers play up to 40 ms before the click: beats are where the strokes are.
        deviation = notes[:, 0] - np.round(notes[:, 0])
        notes[:, :2] -= np.median(deviation[abs(deviation) < 0.12])
        meter = int(row["time_signature"][0])
        count = int(notes[-1, 0] // meter) * meter
        if count >= 16:
            yield row["midi_filename"], Score([Track(notes, is_drums=True)], 1 + np.arange(count) % meter, float(row["bpm"]))


def read_midi(path):
    """A MIDI file whose notes fit the grid of its ticks; None if they do not, or if it has fewer than 32 beats. Bars are unknown."""
    try:
        midi = mido.MidiFile(path)
    except (OSError, ValueError, EOFError, KeyError, IndexError):
        return None
    channels = {}
    programs = {}
    for track in midi.tracks:
        for message in track:
            if message.type == "program_change":
                programs.setdefault(message.channel, message.program)
        for start, end, pitch, velocity, channel in _note_rows(track):
            channels.setdefault(channel, []).append((start / midi.ticks_per_beat, end / midi.ticks_per_beat, pitch, velocity))
    if not channels:
        return None
    starts = np.concatenate([np.array(rows)[:, 0] for rows in channels.values()])
    distance = np.minimum(abs(starts * 4 - np.round(starts * 4)) / 4, abs(starts * 3 - np.round(starts * 3)) / 3)
    count = int(starts.max())
    on_beat = np.mean(abs(starts - np.round(starts)) < 0.05)
    tempi = [message.tempo for track in midi.tracks for message in track if message.type == "set_tempo"]
    if np.mean(distance < 0.04) < 0.9 or on_beat < 0.3 or count < 32 or len(set(tempi)) > 1:
        return None
    tracks = [Track(sorted_notes(rows), programs.get(channel, 0), channel == 9) for channel, rows in channels.items()]
    return Score(tracks, np.zeros(count, int), 60e6 / (tempi or [500_000])[0])
