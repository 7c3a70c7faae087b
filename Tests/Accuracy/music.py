"""What the accuracy scripts share: running the program, and rendering MIDI files with random instruments and a random tuning.

The notes sounding at each time are known exactly: controllers, pedals, bends and drums of the source are left out. One soundfont is
used on every machine, so that the audio is the same. It needs Python with mido and numpy, and fluidsynth with FluidR3_GM.sf2.
"""

import hashlib
import json
import pathlib
import random
import subprocess
import sys

import mido
import numpy as np

SOUNDFONT = "FluidR3_GM.sf2"
SOUNDFONT_FOLDERS = ("/usr/share/sounds/sf2", "/usr/share/soundfonts")
# Instruments with a definite pitch: piano, organ, guitar, strings, choir, brass, woodwind, synthesizer leads and pads.
PROGRAMS = (0, 1, 4, 5, 6, 16, 19, 24, 25, 27, 40, 42, 46, 48, 52, 56, 60, 61, 65, 68, 71, 73, 80, 81, 88, 89)
RATE = 44_100


def records(program, path, analyzer, *options):
    """The records of a file that the program analyses."""
    command = [program, "analyze", "--quiet", "--analyzer", analyzer, *options, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def analyze(program, path, analyzer):
    """The header and the batch records of a file that the program analyses."""
    lines = records(program, path, analyzer)
    return lines[0], [line for line in lines if line["type"] == "batch"]


def synthesize(midi, wav, gain):
    """Plays a MIDI file to a WAV file, 44.1 kHz, stereo, 16 bits."""
    fonts = [path for folder in SOUNDFONT_FOLDERS if (path := pathlib.Path(folder) / SOUNDFONT).exists()]
    if not fonts:
        sys.exit(f"{SOUNDFONT}: not in {' or '.join(SOUNDFONT_FOLDERS)}; apt install fluid-soundfont-gm")
    command = ["fluidsynth", "-ni", "-q", "-r", str(RATE), "-g", str(gain), "-O", "s16", "-T", "wav", "-F", wav, fonts[0], midi]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")


def midi_files(folder, count, skip=0, seconds=60, seed=21):
    """At most `count` MIDI files below a folder with notes that are not drums, at random but the same ones each time."""
    files = sorted(path for path in pathlib.Path(folder).rglob("*.mid") if path.parent.name != "versions")
    drawn = random.Random(seed).sample(files, min(80, len(files)))
    found = []
    for path in drawn[skip:]:
        if len(found) < count and notes_of(path, seconds):
            found.append(path)
    if not found:
        sys.exit(f"{folder}: no MIDI files with notes")
    return found


def made_files(folder, count, seed=21):
    """Makes MIDI files: chords in a progression, a bass and a melody, with random keys, tempi and rhythms."""
    files = []
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        song = mido.MidiFile(ticks_per_beat=480)
        steps = (0, 2, 4, 5, 7, 9, 11) if chance.random() < 0.6 else (0, 2, 3, 5, 7, 8, 10)
        tonic, beats = chance.randrange(12), chance.choice((3, 4))
        tempo = mido.bpm2tempo(chance.randint(66, 160))
        parts = {"chords": [], "bass": [], "melody": []}

        def key(degree, octave):
            return 12 * (octave + 1 + degree // 7) + tonic + steps[degree % 7]

        for bar in range(48):
            root = chance.choice((0, 0, 3, 4, 5, 1, 2))
            start = bar * beats
            for degree in (0, 2, 4) + ((6,) if chance.random() < 0.25 else ()):
                for at in range(0, beats, chance.choice((1, 2, beats))):
                    parts["chords"].append((start + at, min(start + beats, start + at + 1.8), key(root + degree, 4)))
            for at in range(0, beats, chance.choice((1, beats))):
                parts["bass"].append((start + at, start + at + 0.9, key(root, 2)))
            at = start
            while at < start + beats:
                length = min(chance.choice((0.25, 0.5, 0.5, 1, 1.5)), start + beats - at)
                if chance.random() < 0.85:
                    parts["melody"].append((at, at + length, key(root + chance.choice((0, 2, 4, 4, 7, chance.randrange(9))), 5)))
                at += length
        for channel, notes in enumerate(parts.values()):
            track = mido.MidiTrack()
            song.tracks.append(track)
            track.append(mido.MetaMessage("set_tempo", tempo=tempo))
            events = []
            for start, end, note in notes:
                events.append((start, 1, mido.Message("note_on", channel=channel, note=note, velocity=chance.randint(60, 110))))
                events.append((end, 0, mido.Message("note_off", channel=channel, note=note)))
            now = 0
            for at, _, message in sorted(events, key=lambda event: event[:2]):
                tick = round(at * 480)
                track.append(message.copy(time=tick - now))
                now = tick
        files.append(pathlib.Path(folder) / f"made-{number}.mid")
        song.save(files[-1])
    return files


def notes_of(path, seconds):
    """The notes of a MIDI file as (track, start, end, key, velocity) in seconds, without those on the drum channel."""
    midi = mido.MidiFile(path, clip=True)
    tempi, now = [(0, 500_000)], 0
    for message in mido.merge_tracks(midi.tracks):
        now += message.time
        if message.type == "set_tempo":
            tempi.append((now, message.tempo))
    ticks = [tick for tick, _ in tempi]
    starts = [0.0]
    for (before, tempo), (tick, _) in zip(tempi, tempi[1:]):
        starts.append(starts[-1] + (tick - before) * tempo / 1e6 / midi.ticks_per_beat)

    def time(tick):
        index = int(np.searchsorted(ticks, tick, side="right")) - 1
        return starts[index] + (tick - ticks[index]) * tempi[index][1] / 1e6 / midi.ticks_per_beat

    notes = []
    for number, track in enumerate(midi.tracks):
        now, held = 0, {}
        for message in track:
            now += message.time
            if message.type not in ("note_on", "note_off") or message.channel == 9:
                continue
            key = (message.channel, message.note)
            if key in held:
                start, velocity = held.pop(key)
                if time(now) > time(start):
                    notes.append((number, time(start), time(now), message.note, velocity))
            if message.type == "note_on" and message.velocity > 0:
                held[key] = (now, message.velocity)
    first = min((note[1] for note in notes), default=0.0)
    notes = [(track, start - first, min(end - first, seconds), key, velocity) for track, start, end, key, velocity in notes]
    return sorted(note for note in notes if note[1] < seconds and note[2] > note[1])


def render(path, wav, seconds=60, seed=0, tuning=None):
    """Renders a MIDI file to `wav`, 44.1 kHz, stereo. Returns its notes and its tuning in cents."""
    chance = random.Random(f"{seed} {hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()}")
    if tuning is None:
        tuning = chance.choice((0, 0, chance.randint(-35, 35)))
    notes = notes_of(path, seconds)
    wav = pathlib.Path(wav)
    tracks = sorted({note[0] for note in notes})
    channels = [channel for channel in range(16) if channel != 9]
    song = mido.MidiFile(ticks_per_beat=480)
    track = mido.MidiTrack()
    song.tracks.append(track)
    events = []
    for place, number in enumerate(tracks):
        channel = channels[place % len(channels)]
        program = chance.choice(PROGRAMS)
        # Pitch bend has a range of two semitones.
        track.append(mido.Message("program_change", channel=channel, program=program))
        track.append(mido.Message("pitchwheel", channel=channel, pitch=round(8192 * tuning / 200)))
        for _, start, end, key, velocity in (note for note in notes if note[0] == number):
            events.append((end, 0, mido.Message("note_off", channel=channel, note=key)))
            events.append((start, 1, mido.Message("note_on", channel=channel, note=key, velocity=velocity)))
    now = 0
    for at, _, message in sorted(events, key=lambda event: event[:2]):
        tick = round(at * 960)
        track.append(message.copy(time=tick - now))
        now = tick
    midi = wav.with_suffix(".mid")
    song.save(midi)
    synthesize(midi, wav, 0.5)
    midi.unlink()
    return notes, tuning


def sounding(notes, times):
    """For each time, 12 values: 1 where a note of that pitch class sounds."""
    result = np.zeros((len(times), 12), np.float32)
    for _, start, end, key, _ in notes:
        low, high = np.searchsorted(times, (start, end))
        result[low:high, key % 12] = 1
    return result
