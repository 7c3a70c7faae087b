#!/usr/bin/env python3
"""Makes minuet.flac and minuet.beats from the notes written down below.

    python3 examples/music/make.py

Needs fluidsynth, the FluidR3_GM soundfont and flac; SOUNDFONT names the soundfont if it lies elsewhere.
The beat times are not measured: they follow from the score, and the same tempo map plays the notes.
"""

import array
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import wave

NAME = "minuet"
HERE = pathlib.Path(__file__).resolve().parent

# The score. Minuet in G major, BWV Anh. 114, first strain (bars 1 to 16), by Christian Petzold.
# One string per bar; a note is PITCH:LENGTH, 4 a quarter, 8 an eighth, 2. a dotted half; "+" stacks a chord.

RIGHT_HAND = [
    "D5:4 G4:8 A4:8 B4:8 C5:8",
    "D5:4 G4:4 G4:4",
    "E5:4 C5:8 D5:8 E5:8 F#5:8",
    "G5:4 G4:4 G4:4",
    "C5:4 D5:8 C5:8 B4:8 A4:8",
    "B4:4 C5:8 B4:8 A4:8 G4:8",
    "F#4:4 G4:8 A4:8 B4:8 G4:8",
    "A4:2.",
    "D5:4 G4:8 A4:8 B4:8 C5:8",
    "D5:4 G4:4 G4:4",
    "E5:4 C5:8 D5:8 E5:8 F#5:8",
    "G5:4 G4:4 G4:4",
    "C5:4 D5:8 C5:8 B4:8 A4:8",
    "B4:4 C5:8 B4:8 A4:8 G4:8",
    "A4:4 B4:8 A4:8 G4:8 F#4:8",
    "G4:2.",
]

LEFT_HAND = [
    "G3+B3+D4:2 A3:4",
    "B3:2.",
    "C4:2.",
    "B3:2.",
    "A3:2.",
    "G3:2.",
    "D4:4 B3:4 G3:4",
    "D4:4 D3:8 C4:8 B3:8 A3:8",
    "B3:2 A3:4",
    "G3:4 B3:4 G3:4",
    "C4:2.",
    "B3:4 C4:8 B3:8 A3:8 G3:8",
    "A3:2 F#3:4",
    "G3:2 B3:4",
    "C4:4 D4:4 D3:4",
    "G3:2 G2:4",
]

BEATS_PER_BAR = 3
BARS = len(RIGHT_HAND)
TEMPO = 104  # quarters per minute
LAST_BAR = [98, 90, 80]  # the tempo of each beat of the last bar: a small ritardando
LEAD_IN = 0.5  # seconds before the first beat
RING = 2.4  # seconds that the last beat sounds on, fading at the end
FADE = 0.8

# A melody's and an accompaniment's loudness, by place in the bar: the downbeat is the strongest, then the
# other beats; the eighths between them are the lightest.
TOUCH = {"melody": (92, 76, 80, 66), "accompaniment": (76, 60, 62, 54), "bass": (70, 0, 0, 0)}

# (channel, MIDI program, volume, pan)
PIANO = (0, 0, 112, 64)
PLUCKED = (1, 45, 74, 56)  # pizzicato strings, discreetly, under the first note of each bar

TICKS = 480  # to the quarter
RATE = 44100
PEAK = 10 ** (-1 / 20)  # -1 dBFS

LENGTHS = {"8": TICKS // 2, "4": TICKS, "2": 2 * TICKS, "2.": 3 * TICKS}
STEPS = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


def pitch(name):
    """MIDI's number of a note such as F#5."""
    return STEPS[name[0]] + name.count("#") + 12 * (int(name[-1]) + 1)


def read(bars):
    """The notes of one hand as (start tick, length in ticks, pitches)."""
    notes = []
    for number, bar in enumerate(bars):
        tick = number * BEATS_PER_BAR * TICKS
        for word in bar.split():
            names, length = word.split(":")
            notes.append((tick, LENGTHS[length], [pitch(name) for name in names.split("+")]))
            tick += LENGTHS[length]
        if tick != (number + 1) * BEATS_PER_BAR * TICKS:
            sys.exit(f"bar {number + 1} does not add up: {bar}")
    return notes


def tempi():
    """(tick, microseconds per quarter) of every tempo in the piece."""
    last = (BARS - 1) * BEATS_PER_BAR
    rows = [(0, TEMPO)] + [((last + beat) * TICKS, tempo) for beat, tempo in enumerate(LAST_BAR)]
    return [(tick, round(60e6 / tempo)) for tick, tempo in rows]


def beats():
    """Every beat of the score as (seconds, position in the bar)."""
    tempo_at = dict(tempi())
    rows, clock, quarter = [], LEAD_IN, 0
    for beat in range(BARS * BEATS_PER_BAR):
        quarter = tempo_at.get(beat * TICKS, quarter)
        rows.append((clock, beat % BEATS_PER_BAR + 1))
        clock += quarter / 1e6
    return rows


def velocity(voice, tick):
    beat, rest = divmod(tick % (BEATS_PER_BAR * TICKS), TICKS)
    return TOUCH[voice][3 if rest else beat]


def variable(number):
    """A MIDI variable-length quantity."""
    out = [number & 0x7F]
    while number := number >> 7:
        out.insert(0, number & 0x7F | 0x80)
    return bytes(out)


def midi():
    """The piece as a Standard MIDI File of one track."""
    # The lead-in is a stretch of its own tempo, so that its length in seconds is exact.
    lead = TICKS
    events = [(0, 0, b"\xff\x51\x03" + round(LEAD_IN * 1e6).to_bytes(3, "big"))]
    events.append((0, 0, bytes([0xFF, 0x58, 4, BEATS_PER_BAR, 2, 24, 8])))
    for tick, quarter in tempi():
        events.append((lead + tick, 0, b"\xff\x51\x03" + quarter.to_bytes(3, "big")))
    for channel, program, volume, pan in (PIANO, PLUCKED):
        events.append((0, 1, bytes([0xC0 | channel, program])))
        events.append((0, 1, bytes([0xB0 | channel, 7, volume])))
        events.append((0, 1, bytes([0xB0 | channel, 10, pan])))
        events.append((0, 1, bytes([0xB0 | channel, 91, 50])))

    def play(channel, tick, length, key, strength):
        events.append((lead + tick, 3, bytes([0x90 | channel, key, strength])))
        events.append((lead + tick + length, 2, bytes([0x80 | channel, key, 0])))

    end = BARS * BEATS_PER_BAR * TICKS
    for voice, hand in (("melody", read(RIGHT_HAND)), ("accompaniment", read(LEFT_HAND))):
        for tick, length, keys in hand:
            # Quarters are played a little detached, everything else nearly bound; the last notes ring.
            sounding = int(length * (0.86 if length == TICKS else 0.97))
            if tick + length == end:
                sounding = length + TICKS
            for key in keys:
                play(PIANO[0], tick, sounding, key, velocity(voice, tick))
    for tick, length, keys in read(LEFT_HAND):
        if tick % (BEATS_PER_BAR * TICKS) == 0:
            play(PLUCKED[0], tick, length // 2, keys[0] - 12, velocity("bass", tick))

    track, now = bytearray(), 0
    for tick, _, message in sorted(events, key=lambda event: event[:2]):
        track += variable(tick - now) + message
        now = tick
    track += variable(TICKS * 4) + b"\xff\x2f\x00"
    return struct.pack(">4sIHHH4sI", b"MThd", 6, 0, 1, TICKS, b"MTrk", len(track)) + track


def soundfont():
    places = [os.environ.get("SOUNDFONT", "")] + [
        f"{folder}/FluidR3_GM.sf2" for folder in ("/usr/share/sounds/sf2", "/usr/share/soundfonts")
    ]
    for place in places:
        if place and os.path.isfile(place):
            return place
    sys.exit("FluidR3_GM.sf2 not found (Debian: fluid-soundfont-gm); set SOUNDFONT to where it lies")


def render(folder):
    """The piece as interleaved 16-bit stereo samples, as fluidsynth plays it."""
    score, sound = folder / "score.mid", folder / "sound.wav"
    score.write_bytes(midi())
    command = ["fluidsynth", "-ni", "-q", "-g", "0.6", "-r", str(RATE), "-C", "0", "-O", "s16", "-T", "wav", "-F"]
    subprocess.run(command + [sound, soundfont(), score], check=True, stdout=subprocess.DEVNULL)
    with wave.open(str(sound)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, RATE)
        samples = array.array("h", file.readframes(file.getnframes()))
    if sys.byteorder == "big":
        samples.byteswap()
    return samples


def master(samples):
    """Trimmed to the piece's end, faded out there, and brought to the peak level."""
    frames = round((beats()[-1][0] + RING) * RATE)
    fade = round(FADE * RATE)
    if len(samples) < 2 * frames:
        sys.exit("the rendering is shorter than the piece")
    samples = samples[: 2 * frames]
    gain = PEAK * 32767 / max(max(samples), -min(samples))
    out = array.array("h", (round(sample * gain) for sample in samples))
    for frame in range(frames - fade, frames):
        left = ((frames - frame) / fade) ** 2
        for place in (2 * frame, 2 * frame + 1):
            out[place] = round(out[place] * left)
    return out


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        samples = master(render(folder))
        if sys.byteorder == "big":
            samples.byteswap()
        with wave.open(str(folder / "master.wav"), "wb") as file:
            file.setparams((2, 2, RATE, 0, "NONE", ""))
            file.writeframes(samples.tobytes())
        tags = {
            "TITLE": "Minuet in G major, BWV Anh. 114 (first strain)",
            "COMPOSER": "Christian Petzold",
            "LICENSE": "https://creativecommons.org/publicdomain/zero/1.0/",
        }
        command = ["flac", "--silent", "--force", "--best", "--no-padding"]
        command += [f"--tag={key}={text}" for key, text in tags.items()]
        subprocess.run(command + ["-o", HERE / f"{NAME}.flac", folder / "master.wav"], check=True)
    rows = "".join(f"{seconds:.4f}\t{position}\n" for seconds, position in beats())
    (HERE / f"{NAME}.beats").write_text(rows)


if __name__ == "__main__":
    main()
