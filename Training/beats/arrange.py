"""Arranges scores for rendering: instruments, drums, accompaniment and timing. The time of every beat is known exactly."""
from dataclasses import dataclass, field

import numpy as np

from .scores import Score, Track, sorted_notes
from .synthesis import SOUNDFONTS

# General MIDI programs by kind of ensemble, from 0.
PIANOS, GUITARS, BASSES = (0, 1, 2, 3, 4, 5, 6), (24, 25, 26, 27, 28, 29, 30), (32, 33, 34, 35, 36, 38, 39)
STRINGS, CHOIR, BRASS = (40, 41, 42, 43, 44, 45, 48, 49, 50), (52, 53, 54, 91), (56, 57, 58, 59, 60, 61)
WINDS, ORGANS, LEADS = (64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74), (16, 17, 18, 19, 20, 21), (80, 81, 82, 84, 87)
PADS, MALLETS = (88, 89, 90, 92, 94, 95), (8, 9, 10, 11, 12, 13, 14, 46, 104, 108)
MELODY = PIANOS[:2] + GUITARS[:4] + STRINGS[:1] + WINDS + BRASS[:4] + LEADS + (22, 40, 52, 53, 73, 11)
COMPING = PIANOS + GUITARS + ORGANS[:3] + MALLETS[:4] + (48, 50)

KICK, SIDE_STICK, SNARE, CLAP, HAT, PEDAL_HAT, OPEN_HAT, CRASH, RIDE = 36, 37, 38, 39, 42, 44, 46, 49, 51
TAMBOURINE, COWBELL, MARACAS, CONGA = 54, 56, 70, 63
# The voices of `Arrangement.drums`; side stick and clap are snares. Other drums have none.
VOICE_NAMES = ("kick", "snare", "hi-hat")
VOICES = {35: 0, KICK: 0, SIDE_STICK: 1, SNARE: 1, CLAP: 1, 40: 1, HAT: 2, PEDAL_HAT: 2, OPEN_HAT: 2}
# Drum patterns: meter, whether the beat's halves swing, and the hits in quarters of a beat for each instrument.
GROOVES = {
    "rock": (4, False, {KICK: "x.......x.x.....", SNARE: "....x.......x...", HAT: "x.x.x.x.x.x.x.x."}),
    "rock2": (4, False, {KICK: "x..x....x..x....", SNARE: "....x.......x...", HAT: "x...x...x...x..."}),
    "four": (4, False, {KICK: "x...x...x...x...", SNARE: "....x.......x...", OPEN_HAT: "..x...x...x...x."}),
    "four2": (4, False, {KICK: "x...x...x...x...", CLAP: "....x.......x...", HAT: "xxxxxxxxxxxxxxxx", TAMBOURINE: "..x...x...x...x."}),
    "double-kick": (4, False, {KICK: "x.x.x.x.x.x.x.x.", SNARE: "....x.......x...", CRASH: "x...x...x...x..."}),
    "hip-hop": (4, False, {KICK: "x..x......x..x..", SNARE: "....x.......x...", HAT: "x.x.x.x.x.x.x.xx"}),
    "funk": (4, False, {KICK: "x.x....x..x..x..", SNARE: "....x..x.x..x..x", HAT: "xxxxxxxxxxxxxxxx"}),
    "train": (4, False, {KICK: "x...x...x...x...", SNARE: "xxxxXxxxxxxxXxxx"}),
    "bossa": (4, False, {SIDE_STICK: "x..x..x...x..x..", KICK: "x..xx..xx..xx..x", HAT: "x.x.x.x.x.x.x.x."}),
    "reggae": (4, False, {KICK: "........x.......", SIDE_STICK: "........x.......", HAT: "..x...x...x...x."}),
    "breakbeat": (4, False, {KICK: "x.x.......xx....", SNARE: "....x..x.x..x..x", RIDE: "x.x.x.x.x.x.x.x."}),
    "samba": (4, False, {KICK: "x..xx..xx..xx..x", MARACAS: "xxxxxxxxxxxxxxxx", CONGA: "x..x..x...x.x..."}),
    "latin": (4, False, {KICK: "x......x........", COWBELL: "x...x.x.x...x.x.", CONGA: "..xx..x...xx..xx"}),
    "swing": (4, True, {RIDE: "x...x.x.x...x.x.", PEDAL_HAT: "....x.......x..."}),
    "swing2": (4, True, {RIDE: "x...x.x.x...x.x.", PEDAL_HAT: "....x.......x...", KICK: "x...x...x...x...", SNARE: "..........x....."}),
    "shuffle": (4, True, {KICK: "x.......x.......", SNARE: "....x.......x...", HAT: "x.x.x.x.x.x.x.x."}),
    "waltz": (3, False, {KICK: "x...........", SNARE: "....x...x...", HAT: "x...x...x..."}),
    "jazz-waltz": (3, True, {RIDE: "x...x.x.x...", PEDAL_HAT: "....x......."}),
    "march": (2, False, {KICK: "x.......", SNARE: "....x.xx"}),
    "polka": (2, False, {KICK: "x...x...", SNARE: "..x...x.", CRASH: "x......."}),
}


@dataclass
class Arrangement:
    """What is rendered. Times in seconds; `positions` as in Score; `drums` are rows of (time, voice, velocity). `delay`: whether labels
    are placed later than the note-ons, as people mark them."""
    parts: list = field(default_factory=list)
    hits: list = field(default_factory=list)
    beats: np.ndarray = field(default_factory=lambda: np.zeros(0))
    positions: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    onsets: np.ndarray = field(default_factory=lambda: np.zeros(0))
    drums: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    fonts: tuple = ()
    delay: bool = True
    has_onsets: bool = True


class Timing:
    """Maps beats to seconds: a random walk of the tempo, ritardandi at phrase ends, rarely a new tempo."""

    def __init__(self, rng, count, tempo, freedom, meter=4, start=None):
        beats = np.arange(count + 1)
        deviation = np.cumsum(rng.normal(0, freedom, count + 1))
        deviation -= np.convolve(np.pad(deviation, 16, mode="edge"), np.ones(33) / 33, "valid") * 0.7
        if freedom > 0.012:
            phrase = meter * rng.choice([2, 4, 8])
            place = (beats % phrase) / phrase
            deviation -= rng.uniform(0, 0.35) * np.maximum(0, place - 0.75) * 4 * min(1, freedom / 0.04)
        if rng.random() < 0.06:
            deviation[rng.integers(count // 4, count):] += rng.choice([-1, 1]) * rng.uniform(0.08, 0.4)
        seconds = 60 / tempo * np.exp(-np.clip(deviation, -0.5, 0.5))
        lead = rng.uniform(0, 0.8) if start is None else start
        self.times = lead + np.concatenate([[0], np.cumsum(seconds)])

    def __call__(self, beats):
        return np.interp(beats, np.arange(len(self.times)), self.times)


def drum_rows(times, pitches, velocities):
    """Rows of `Arrangement.drums` for the notes that are a kick, a snare or a hi-hat."""
    rows = [(time, VOICES[int(pitch)], velocity) for time, pitch, velocity in zip(times, pitches, velocities) if int(pitch) in VOICES]
    return np.array(rows).reshape(-1, 3)


def swung(beats, ratio):
    """Moves the middle of each beat from .5 to `ratio`."""
    whole = np.floor(beats + 1e-6)
    part = beats - whole
    return whole + np.where(part < 0.5, part * 2 * ratio, ratio + (part - 0.5) * 2 * (1 - ratio))


def accented(rng, notes, meter):
    """Velocities by metrical place, a slow swell, and chance."""
    notes = notes.copy()
    place = notes[:, 0]
    level = rng.uniform(55, 100) - rng.uniform(0, 14) * (abs(place - np.round(place)) > 0.05)
    level += rng.uniform(0, 14) * (np.round(place) % max(meter, 1) == 0)
    level += rng.uniform(0, 18) * np.sin(2 * np.pi * (place / rng.uniform(8, 40) + rng.random()))
    notes[:, 3] = np.clip(level + rng.normal(0, rng.uniform(2, 9), len(notes)), 15, 127)
    return notes


def drum_track(rng, count, meter, tempo):
    """A generated drum track, and whether it swings; None for meters without patterns."""
    names = [name for name, (beats, _, _) in GROOVES.items() if beats == meter]
    if not names:
        return None, False
    # Half- and double-time drums are no patterns of their own: listeners tap twice as slowly or fast under them (songs.py).
    names = [name for name in names if tempo < 130 or name != "double-kick"]
    _, swings, hits = GROOVES[rng.choice(names)]
    density, rows = rng.uniform(0, 0.06), []
    left_out = rng.choice(list(hits)) if len(hits) > 2 and rng.random() < 0.2 else None
    phrase = int(rng.choice([4, 8]))
    for bar in range(count // meter + 1):
        fill = rng.random() < 0.5 and bar % phrase == phrase - 1
        for instrument, pattern in hits.items():
            if instrument == left_out:
                continue
            for step, mark in enumerate(pattern):
                is_hit = (mark != ".") != (rng.random() < density)
                if fill and step >= 3 * len(pattern) // 4:
                    is_hit = instrument in (KICK, SNARE) and rng.random() < 0.6
                if is_hit:
                    base = 110 if mark == "X" or instrument in (KICK, SNARE) else 75 if step % 4 == 0 else 62
                    rows.append((bar * meter + step / 4, bar * meter + step / 4 + 0.1, instrument,
                                 np.clip((base if mark != "." else 40) + rng.normal(0, 7), 10, 127)))
        if bar and bar % phrase == 0 and rng.random() < 0.6:
            rows.append((bar * meter, bar * meter + 1, CRASH, 95))
    if tempo > 150 and not swings:  # Fast patterns use fewer hits.
        rows = [row for row in rows if row[0] * 2 % 1 < 1e-6 or row[2] in (KICK, SNARE)]
    return Track(sorted_notes(rows), is_drums=True), swings


def performed_drums(rng, performance, count):
    """A run of a recorded performance, repeated to `count` beats."""
    meter = int(performance.positions.max())
    bars = min(len(performance.positions), count) // meter
    bars = min(bars, int(rng.choice([2, 4, 8, 64])))
    first = meter * int(rng.integers(0, len(performance.positions) // meter - bars + 1))
    part = performance.window(first, bars * meter).tracks[0].notes
    copies = [part + np.array([index * bars * meter] * 2 + [0, 0]) for index in range(count // (bars * meter) + 1)]
    return Track(np.concatenate(copies), is_drums=True)


def accompaniment(rng, chords, count, meter, swings):
    """Bass and chords to a lead sheet's or a generated harmony."""
    bass, comping = [], []
    bass_kind = rng.choice(["root", "fifth", "walking", "octaves", "eighths", "none"], p=[.2, .25, .2, .1, .15, .1])
    comp_kind = rng.choice(["beats", "offbeats", "charleston", "held", "arpeggio", "eighths", "none"],
                           p=[.18, .15, .15, .15, .2, .1, .07])
    if meter == 3 and rng.random() < 0.6:
        bass_kind, comp_kind = "root", "waltz"
    low, high = int(rng.integers(28, 40)), int(rng.integers(52, 62))
    for start, end, chord in chords:
        end = min(end, count)
        voicing = sorted(high + (pitch - high) % 12 for pitch in chord)
        root = low + (chord[0] - low) % 12
        for beat in np.arange(np.ceil(start - 1e-6), end - 1e-6):
            place = int(beat % meter)
            pitch = {"fifth": root + (7 if place == 2 else 0), "walking": int(rng.choice(chord)) % 12,
                     "octaves": root + (12 if place % 2 else 0)}.get(bass_kind, root)
            if bass_kind == "walking":
                pitch = root if beat < start + 1 else low + (pitch - low) % 12
            if bass_kind in ("walking", "octaves") or (bass_kind in ("root", "fifth") and place in (0, 2) and (meter != 3 or place == 0)):
                bass.append((beat, beat + 0.9, pitch, 85))
            elif bass_kind == "eighths":
                bass += [(beat, beat + 0.45, pitch, 85), (beat + 0.5, beat + 0.95, pitch, 78)]
            times = {"beats": [(0, .8)], "offbeats": [(.5, .3)], "charleston": [(0, .4)] if place == 0 else [(.5, .3)] if place == 1 else [],
                     "eighths": [(0, .4), (.5, .4)], "waltz": [(0, .6)] if place else [],
                     "held": [(0, max(1, end - start))] if beat < start + 1 else []}.get(comp_kind, [])
            for offset, length in times:
                comping += [(beat + offset, beat + offset + length, pitch, 70) for pitch in voicing]
            if comp_kind == "arpeggio":
                comping += [(beat + step / 2, beat + step / 2 + 0.6, voicing[(2 * place + step) % len(voicing)], 70) for step in (0, 1)]
    return [Track(sorted_notes(rows), int(rng.choice(programs)))
            for rows, programs in ((bass, BASSES), (comping, COMPING)) if rows]


def random_chords(rng, count, meter):
    """A diatonic progression, one or two chords a bar."""
    degrees = [(0, 4, 7), (2, 5, 9), (4, 7, 11), (5, 9, 0), (7, 11, 2), (9, 0, 4)]
    key, cycle = int(rng.integers(12)), [int(rng.integers(6)) for _ in range(int(rng.choice([2, 4, 4, 8])))]
    step = meter if rng.random() < 0.7 else max(1, meter // 2)
    return [(float(start), float(start + step), tuple((pitch + key) % 12 for pitch in degrees[cycle[index % len(cycle)]]))
            for index, start in enumerate(range(0, count, step))]


def perform(rng, score, tempo, freedom, seconds, jitter, drum_volume=0.0, swing=0.5, rolled=False, timing=None):
    """A score to an arrangement: `tempo` in beats per minute, `freedom` of the tempo's random walk, `jitter` of the notes in seconds;
    `timing` replaces both of the former."""
    count = len(score.positions)
    meter = int(score.positions.max()) or 4
    timing = timing or Timing(rng, count, tempo, freedom, meter)
    fonts = list(SOUNDFONTS)
    main = str(rng.choice(fonts))
    is_mixed = rng.random() < 0.4
    transposition = int(rng.integers(-4, 5))
    arrangement, onsets, drums, used = Arrangement(), [], [], set()
    for track in score.tracks:
        notes = track.notes if track.is_drums else accented(rng, track.notes, meter)
        if not len(notes):
            continue
        font = str(rng.choice(fonts)) if is_mixed else main
        lateness = rng.normal(0, jitter / 2)
        at = swung(notes[:, 0], swing) if swing != 0.5 else notes[:, 0]
        starts = timing(at) + rng.normal(0, jitter, len(notes)) + lateness
        if rolled and not track.is_drums:
            # Notes of a chord begin one after the other, from the lowest.
            spread = rng.uniform(0.005, 0.03)
            order = np.lexsort((notes[:, 2], notes[:, 0]))
            for previous, this in zip(order, order[1:]):
                if notes[this, 0] - notes[previous, 0] < 1e-3 and rng.random() < 0.7:
                    starts[this] = max(starts[this], starts[previous] + spread * rng.random())
        lengths = np.maximum(timing(notes[:, 1]) - timing(notes[:, 0]), 0.05) * rng.uniform(0.6, 1.05)
        pitches = notes[:, 2] if track.is_drums else np.clip(notes[:, 2] + transposition, 20, 110)
        volume = rng.uniform(60, 110) * (10 ** (drum_volume / 20) if track.is_drums else 1)
        rows = np.stack([np.maximum(starts, 0), starts + lengths, pitches, np.clip(notes[:, 3], 1, 127)], axis=1)
        program = int(rng.choice([0, 0, 8, 16, 24, 25, 32, 40])) if track.is_drums else track.program
        arrangement.parts.append((rows, font, program, track.is_drums, np.clip(volume, 15, 127)))
        onsets.append(rows[rows[:, 3] > 25, 0])
        if track.is_drums:
            drums.append(drum_rows(rows[:, 0], rows[:, 2], rows[:, 3]))
        used.add(font)
    arrangement.onsets = np.concatenate(onsets) if onsets else np.zeros(0)
    arrangement.drums = np.concatenate(drums) if drums else np.zeros((0, 3))
    arrangement.fonts = tuple(sorted(used))
    arrangement.beats, arrangement.positions = timing.times[:count], score.positions
    return arrangement
