"""Makes music with known segments, for structure.py, from a seed.

A song has one tempo and key, and sections that differ in chords, melody and some of their instruments and drums. A medley is cut from
parts of several songs, some of which return, transposed or with other instruments. A score medley is cut from MIDI files, a recording
medley from recordings; some of their parts return unchanged. The same seed gives the same notes; the sound depends on the versions of
fluidsynth and the soundfont. Requires fluidsynth with the soundfont FluidR3_GM, and Python with mido, numpy and soundfile.
"""

import bisect
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import mido
import numpy as np
import soundfile

SOUNDFONT = "/usr/share/sounds/sf2/FluidR3_GM.sf2"
RATE = 44_100

SCALES = {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 10)}
# Chords as degrees of the scale, from 0, one a bar.
PROGRESSIONS = [
    (0, 4, 5, 3), (5, 3, 0, 4), (0, 3, 4, 4), (0, 5, 3, 4), (3, 4, 0, 0), (1, 4, 0, 5), (0, 2, 3, 4), (5, 4, 3, 4), (3, 0, 4, 5),
    (0, 6, 3, 0), (0, 0, 3, 3), (5, 1, 4, 0), (2, 5, 1, 4), (3, 3, 0, 0), (1, 1, 0, 0), (4, 3, 0, 0),
]
# Programs of General MIDI, from 0.
COMP = [0, 2, 4, 5, 6, 11, 16, 18, 21, 24, 25, 26, 27, 28, 29, 45, 46, 48, 50, 52, 61, 88, 89, 90]
MELODY = [0, 11, 12, 22, 24, 27, 40, 41, 52, 56, 57, 60, 64, 65, 66, 68, 71, 73, 75, 79, 80, 81, 87]
BASS = [32, 33, 34, 35, 36, 38, 39, 43]
# A bar of 16 steps for bass drum, snare, closed hi-hat or ride, and tambourine or shaker.
DRUMS = [
    None,
    {36: "x.......x.......", 38: "....x.......x...", 42: "x.x.x.x.x.x.x.x."},
    {36: "x...x...x...x...", 39: "....x.......x...", 46: "..x...x...x...x."},
    {36: "x..x..x...x.....", 38: "....x.......x..x", 42: "xxxxxxxxxxxxxxxx"},
    {36: "x.........x.....", 37: "....x.......x...", 51: "x...x.x.x...x.x."},
    {36: "x.....x.x.......", 38: "........x.......", 42: "x...x...x...x..."},
    {36: "x.x...x...x.x...", 40: "....x..x.x..x...", 42: "x.x.x.x.x.x.x.xx", 54: "..x...x...x...x."},
    {70: "x.xxx.xxx.xxx.xx", 63: "..x..x....x.x...", 62: "x.......x......."},
    {36: "x.......x.......", 41: "..x..x.....x....", 43: "....x.......xx.."},
]
COMPING = ["x...............", "x.......x.......", "x...x...x...x...", "x.x.x.x.x.x.x.x.", "x..x..x...x..x..", "..x...x...x...x.", "arpeggio", "fast"]
BASSES = ["x...............", "x.......x.......", "x...x...x...x...", "x.x.x.x.x.x.x.x.", "x..x..x.x..x..x.", "x.......x.....x."]
FORMS = ["IABABCBO", "ABABCAB", "AABA", "IABACAB", "ABCABC", "ABACADA", "IABABC", "ABCBA", "ABCDBA", "IAABABO"]

FORMS_OF_PARTS = ["ABAC", "ABACA", "ABCAB", "ABCADA", "ABACBD", "ABCDE"]


class Style:
    """The instruments and patterns of a section."""

    def __init__(self, rng):
        self.parts = {}
        for part in ("drums", "bass", "comp", "melody", "pad", "register"):
            self.change(part, rng)

    def copy(self):
        other = Style.__new__(Style)
        other.parts = dict(self.parts)
        return other

    def change(self, part, rng):
        self.parts[part] = {
            "drums": lambda: rng.choice(DRUMS),
            "bass": lambda: rng.choice([None, (rng.choice(BASS), rng.choice(BASSES)), (rng.choice(BASS), rng.choice(BASSES))]),
            "comp": lambda: (rng.choice(COMP), rng.choice(COMPING), rng.choice([48, 52, 55, 60])),
            "melody": lambda: rng.choice([None, (rng.choice(MELODY), rng.choice([0.25, 0.45, 0.7])), (rng.choice(MELODY), 0.5)]),
            "pad": lambda: rng.choice([None, None, rng.choice([48, 49, 50, 52, 89, 90, 91, 95])]),
            "register": lambda: rng.choice([60, 64, 67, 72, 76]),
        }[part]()


def section(rng, style):
    """The material of a section: its chords and melody, which a repetition repeats."""
    bars = 4
    return {"style": style, "chords": rng.choice(PROGRESSIONS), "seed": rng.random(), "bars": bars}


def play(material, start, bpm, key, scale, bars, rng, fill, crash, level):
    """The notes of a section as (start, duration, channel, pitch, velocity) and its programs as channel → program."""
    style, notes, programs = material["style"].parts, [], {}
    step = 15 / bpm
    melody_rng = random.Random(material["seed"])

    def pitch(degree, low):
        value = key + SCALES[scale][degree % 7]
        while value < low:
            value += 12
        while value >= low + 12:
            value -= 12
        return value

    def add(bar, place, steps, channel, number, velocity):
        time = start + (bar * 16 + place) * step + rng.gauss(0, 0.004)
        notes.append((max(0, time), steps * step * 0.95, channel, number, max(1, min(127, int(velocity * level + rng.gauss(0, 4))))))

    phrase = []
    for _ in range(4):
        degree, bar_notes, place = melody_rng.randrange(7), [], 0
        while place < 16:
            length = melody_rng.choice([2, 2, 4, 4, 6, 8])
            if style["melody"] and melody_rng.random() < 0.3 + style["melody"][1]:
                bar_notes.append((place, min(length, 16 - place), degree))
            degree += melody_rng.choice([-2, -1, -1, 0, 1, 1, 2])
            place += max(1, round(length * (1.4 - (style["melody"][1] if style["melody"] else 0))))
        phrase.append(bar_notes)
    for bar in range(bars):
        chord = material["chords"][bar % 4]
        degrees = [chord, chord + 2, chord + 4]
        program, pattern, low = style["comp"]
        programs[0] = program
        if pattern in ("arpeggio", "fast"):
            every = 2 if pattern == "arpeggio" else 1
            for index, place in enumerate(range(0, 16, every)):
                add(bar, place, every * 2, 0, pitch(degrees[(index * 2 if every == 1 else index) % 3], low) + 12 * (index % 6 > 2), 66)
        else:
            hits = [place for place in range(16) if pattern[place] == "x"]
            for place, end in zip(hits, hits[1:] + [16]):
                for degree in degrees:
                    add(bar, place, end - place, 0, pitch(degree, low), 64)
        if style["bass"]:
            programs[1], pattern = style["bass"]
            hits = [place for place in range(16) if pattern[place] == "x"]
            for index, (place, end) in enumerate(zip(hits, hits[1:] + [16])):
                add(bar, place, end - place, 1, pitch(chord if index % 4 != 3 else chord + 4, 33), 84)
        if style["melody"]:
            programs[2] = style["melody"][0]
            for place, length, degree in phrase[bar % 4]:
                add(bar, place, length, 2, pitch(degree, style["register"]) + (12 if degree > 6 else 0), 88)
        if style["pad"] is not None:
            programs[3] = style["pad"]
            for degree in degrees:
                add(bar, 0, 16, 3, pitch(degree, 60), 52)
        if style["drums"]:
            for drum, pattern in style["drums"].items():
                for place in range(16):
                    if pattern[place] == "x" and not (fill and bar == bars - 1 and place >= 8):
                        add(bar, place, 1, 9, drum, 92 if place % 4 == 0 else 72)
            if fill and bar == bars - 1:
                for place in range(8, 16):
                    add(bar, place, 1, 9, [38, 48, 45, 41][(place - 8) // 2], 80 + 3 * (place - 8))
            if crash and bar == 0:
                add(0, 0, 8, 9, 49, 96)
    return notes, programs


def song_materials(rng):
    """Tempo, key, scale, and the materials of a song's sections by their letters."""
    base, contrast = Style(rng), rng.choice([0.2, 0.45, 0.8])
    materials = {}
    for letter in "ABCDIO":
        style = base.copy()
        changed = [part for part in style.parts if rng.random() < contrast] or [rng.choice(["drums", "comp", "melody", "bass"])]
        for part in changed:
            style.change(part, rng)
        if letter in "IO":
            style.parts[rng.choice(["drums", "melody", "bass"])] = None
        materials[letter] = section(rng, style)
    return {"bpm": rng.uniform(72, 150), "key": rng.randrange(12), "scale": rng.choice(["major", "minor"]), "materials": materials}


def bars_between(rng, bpm, shortest, longest):
    """A number of bars, a multiple of four, that lasts between two times in seconds if there is one."""
    choices = [bars for bars in (4, 8, 12, 16, 20) if shortest <= bars * 240 / bpm <= longest]
    return rng.choice(choices or [8])


def song(seed):
    """Notes, program changes and segments of a song."""
    rng = random.Random(f"song {seed}")
    materials = song_materials(rng)
    bpm, time, notes, programs, segments = materials["bpm"], 0.5, [], [], []
    bars = {letter: bars_between(rng, bpm, 9, 32) for letter in "ABCD"} | {letter: bars_between(rng, bpm, 6, 14) for letter in "IO"}
    for letter in rng.choice(FORMS):
        part = play(
            materials["materials"][letter], time, bpm, materials["key"], materials["scale"], bars[letter], rng, rng.random() < 0.4,
            rng.random() < 0.4, rng.choice([0.9, 1, 1, 1.1]))
        notes += part[0]
        programs += [(max(0, time - 0.02), *item) for item in part[1].items()]
        if not segments or segments[-1][1] != letter:
            segments.append((time, letter))
        time += bars[letter] * 240 / bpm
    return notes, programs, segments, time


def medley(seed):
    """Notes, program changes and segments of a medley."""
    rng = random.Random(f"medley {seed}")
    form = rng.choice(["ABACABA", "ABCDE", "ABACAD", "ABCACB", "ABCDEF"])
    parts, time, notes, programs, segments = {}, 0.5, [], [], []
    for letter in form:
        if letter not in parts:
            parts[letter] = song_materials(rng)
        source = parts[letter]
        material, key = source["materials"]["A"], source["key"]
        change = rng.choice(["none", "none", "transposed", "instruments"]) if any(label == letter for _, label in segments) else "none"
        if change == "transposed":
            key += rng.choice([-3, -2, 2, 3, 5])
        if change == "instruments":
            material = {**material, "style": material["style"].copy()}
            for item in ("comp", "melody", "drums"):
                material["style"].change(item, rng)
        bars = bars_between(rng, source["bpm"], 10, 40)
        part = play(material, time, source["bpm"], key, source["scale"], bars, rng, False, False, 1)
        end = time + bars * 240 / source["bpm"]
        # A part ends where the next begins, in the middle of a bar or not.
        end -= rng.choice([0, 0, rng.uniform(0, 3)])
        notes += [(start, min(length, end - start), *rest) for start, length, *rest in part[0] if start < end - 0.02]
        programs += [(max(0, time - 0.02), *item) for item in part[1].items()]
        segments.append((time, letter))
        time = end
    return notes, programs, segments, time


def read_score(path):
    """The notes of a MIDI file as (start, duration, track, pitch, velocity) in seconds, and the program of each track; drums have track -1."""
    song = mido.MidiFile(path, clip=True)
    tempi, tick, time, tempo = [], 0, 0.0, 500_000
    for message in mido.merge_tracks(song.tracks):
        time += mido.tick2second(message.time, song.ticks_per_beat, tempo)
        tick += message.time
        if message.type == "set_tempo":
            tempo = message.tempo
            tempi.append((tick, time, tempo))

    def seconds(tick):
        place = bisect.bisect_right(tempi, (tick, math.inf)) - 1
        first, time, tempo = tempi[place] if place >= 0 else (0, 0.0, 500_000)
        return time + mido.tick2second(tick - first, song.ticks_per_beat, tempo)

    notes, programs = [], {}
    for number, track in enumerate(song.tracks):
        tick, held = 0, {}
        for message in track:
            tick += message.time
            if message.type == "program_change":
                programs.setdefault(number, message.program)
            if message.type not in ("note_on", "note_off"):
                continue
            key = (message.channel, message.note)
            if key in held:
                start, velocity = held.pop(key)
                notes.append((seconds(start), seconds(tick) - seconds(start), -1 if message.channel == 9 else number, message.note, velocity))
            if message.type == "note_on" and message.velocity:
                held[key] = (tick, message.velocity)
    return sorted(notes), programs


def excerpt(files, rng):
    """Notes and programs of 10 to 40 s of a score, from the start of a note on; the tempo is changed by up to 15 %."""
    while True:
        notes, programs = read_score(rng.choice(files))
        length, speed = rng.uniform(10, 40), rng.uniform(0.85, 1.15)
        starts = sorted({note[0] for note in notes if note[0] + length * speed < notes[-1][0]})
        if not starts:
            continue
        first = rng.choice(starts)
        # The next part begins where a note of this one would.
        last = starts[min(bisect.bisect_left(starts, first + length * speed), len(starts) - 1)]
        part = [((start - first) / speed, min(duration, last - start) / speed, *rest) for start, duration, *rest in notes if first <= start < last]
        if len(part) >= 2 * length and last - first >= 10 * speed:
            return part, programs, (last - first) / speed


def score_medley(seed, files):
    """Notes, program changes and segments of parts of scores, some of which return. Half of the medleys have the same instruments throughout."""
    rng = random.Random(f"scores {seed}")
    form = rng.choice(FORMS_OF_PARTS)
    has_own_programs = rng.random() < 0.5
    shared = [rng.choice(COMP + MELODY) for _ in range(16)]
    parts, time, notes, changes, segments = {}, 0.5, [], [], []
    channels = [channel for channel in range(16) if channel != 9]
    for letter in form:
        if letter not in parts:
            part, programs, length = excerpt(files, rng)
            tracks = sorted({note[2] for note in part} - {-1})
            places = {track: channels[place % len(channels)] for place, track in enumerate(tracks)} | {-1: 9}
            # Scores for the piano only get other instruments; others keep their own, or have those of the medley.
            own = {track: programs.get(track, 0) for track in tracks}
            if not any(own.values()):
                own = {track: rng.choice(COMP + MELODY) for track in tracks}
            if not has_own_programs:
                own = {track: shared[place % 16] for place, track in enumerate(tracks)}
            parts[letter] = [(*note[:2], places[note[2]], *note[3:]) for note in part], {places[track]: own[track] for track in tracks}, length
        part, programs, length = parts[letter]
        notes += [(time + start, *rest) for start, *rest in part]
        changes += [(max(0, time - 0.02), *item) for item in programs.items()]
        segments.append((time, letter))
        time += length
    return notes, changes, segments, time


def midi(notes, programs):
    """A standard MIDI file with ticks of a millisecond."""
    events = [(round(time * 1000), 0, bytes([0xC0 | channel, program])) for time, channel, program in programs]
    events += [(0, 0, bytes([0xB0 | channel, 7, volume])) for channel, volume in ((0, 84), (1, 104), (2, 100), (3, 70), (9, 100))]
    for start, length, channel, number, velocity in notes:
        events.append((round(start * 1000), 2, bytes([0x90 | channel, number, velocity])))
        events.append((round((start + length) * 1000), 1, bytes([0x80 | channel, number, 0])))
    events.sort(key=lambda event: event[:2])
    track, last = bytearray(), 0
    for time, _, message in events:
        delta, last = time - last, time
        digits = [delta & 127]
        while delta > 127:
            delta >>= 7
            digits.append(delta & 127 | 128)
        track += bytes(reversed(digits)) + message
    track += b"\0\xff\x2f\0"
    # 500 ticks a quarter of 0.5 s, the tempo of a file without one.
    return b"MThd" + struct.pack(">IHHH", 6, 0, 1, 500) + b"MTrk" + struct.pack(">I", len(track)) + track


def recording_medley(seed, files):
    """Samples and segments of parts of recordings of one level, some of which return."""
    rng = random.Random(f"recordings {seed}")
    parts, samples, segments = {}, [], []
    for letter in rng.choice(FORMS_OF_PARTS):
        while letter not in parts:
            path = rng.choice([path for path in files if path not in [source for source, _ in parts.values()]])
            audio, rate = soundfile.read(path, dtype="float32", always_2d=True)
            length = min(round(rng.uniform(10, 25) * RATE), len(audio) - 1)
            if rate != RATE or length < 10 * RATE:
                continue
            start = rng.randrange(len(audio) - length)
            part = audio[start:start + length].mean(axis=1)
            parts[letter] = path, 0.1 * part / max(1e-4, float(np.sqrt(np.mean(part * part))))
        segments.append((sum(map(len, samples)) / RATE, letter))
        samples.append(parts[letter][1])
    return np.concatenate(samples), segments


def write_segments(path, segments, end):
    lines = [f"{time:.3f}\t{label}" for time, label in segments] + [f"{end:.3f}\tend"]
    path.with_suffix(".segments").write_text("\n".join(lines) + "\n")


def render(path, notes, programs, segments, end):
    """Writes the sound and the segments of a piece."""
    if not pathlib.Path(SOUNDFONT).is_file():
        sys.exit(f"structure_music: {SOUNDFONT}: No such file; apt install fluid-soundfont-gm")
    with tempfile.TemporaryDirectory() as folder:
        score, sound = pathlib.Path(folder, "x.mid"), pathlib.Path(folder, "x.wav")
        score.write_bytes(midi(notes, programs))
        subprocess.run(
            ["fluidsynth", "-n", "-i", "-q", "-g", "0.5", "-r", str(RATE), "-T", "wav", "-O", "s16", "-F", str(sound), SOUNDFONT, str(score)],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        samples, rate = soundfile.read(sound, dtype="int16")
        soundfile.write(path, samples, rate)
    write_segments(path, segments, end)


def make(path, kind, seed, files=()):
    """Writes a piece, where it is missing: PATH, a FLAC file, and PATH with the suffix .segments, which has the start in seconds and the
    label of each segment, then the end and "end"."""
    if path.with_suffix(".segments").is_file():
        return
    if kind == "recordings":
        samples, segments = recording_medley(seed, files)
        soundfile.write(path, samples, RATE)
        write_segments(path, segments, len(samples) / RATE)
    elif kind == "scores":
        render(path, *score_medley(seed, files))
    else:
        render(path, *{"song": song, "medley": medley}[kind](seed))
