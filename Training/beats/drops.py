"""Tracks with breaks, builds and drops whose bars are known, to judge what announces a drop.

    python -m beats.drops DATA FOLDER --count 40        writes FOLDER/NUMBER.flac and .json

A JSON file has the bars as rows (seconds, state), and the returns of drums and bass as rows (seconds, bars without them, built up).
Track N depends on seed and N only. Builds rise as they do in dance music: noise and tones, filters that open, rolls that double, and a
pause before the drop. Some builds lead nowhere, some breaks end without one, and some noise rises in the midst of a groove.
"""
import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from . import songs, styles
from .arrange import CLAP, HAT, KICK, OPEN_HAT, SNARE
from .features import SAMPLE_RATE
from .render import unpack
from .synthesis import FluidSynth, place

GENRES = ("house", "hard-house", "psytrance", "eurobeat", "disco", "drum-and-bass", "pop-rock", "hip-hop", "funk", "dubstep", "trap", "slow-rock",
          "metal")
# These are for judging alone, as is everything that this soundfont plays.
LEFT_OUT_GENRES, LEFT_OUT_FONT = ("dubstep", "trap", "metal", "eurobeat"), "gmbank"
LEAST_SECONDS, MOST_SECONDS = 130.0, 220.0
GROOVE, BREAK, BUILD, DROP = "groove", "break", "build", "drop"
BLOCK = 2048


@dataclass
class Section:
    """A number of bars. `leads_on`: a build after which drums and bass return; `rises`: noise rises in a groove."""
    state: str
    bars: int
    leads_on: bool = False
    rises: bool = False
    first: int = 0
    roles: frozenset = frozenset()


def plan(rng, unit, bars):
    """Sections of about `bars` bars; lengths are multiples of a phrase of `unit` bars, or of half of it."""
    def length(*choices):
        bars = int(unit * rng.choice(choices))
        return bars + (int(rng.choice([-1, 1, 2])) if rng.random() < 0.06 and bars > 3 else 0)

    sections = [Section(BREAK if rng.random() < 0.4 else GROOVE, length(1, 1, 2)), Section(GROOVE, length(1, 2, 2))]
    while sum(section.bars for section in sections) < bars:
        kind = rng.choice(["drop", "plain", "false", "riser", "pause"], p=[.5, .16, .14, .1, .1])
        if kind == "drop":
            sections += [Section(BREAK, length(1, 1, 2))] if rng.random() < 0.75 else []
            sections += [Section(BUILD, length(1, 1, 1, 2), leads_on=True), Section(DROP, length(1, 2, 2))]
        elif kind == "plain":
            sections += [Section(BREAK, length(1, 1, 2)), Section(GROOVE, length(1, 2))]
        elif kind == "false":
            sections += [Section(BREAK, length(1, 2)), Section(BUILD, length(1)), Section(BREAK, length(1))]
            if rng.random() < 0.5:
                sections += [Section(BUILD, length(1), leads_on=True), Section(DROP, length(1, 2))]
            else:
                sections += [Section(GROOVE, length(1, 2))]
        elif kind == "riser":
            sections += [Section(GROOVE, length(1), rises=True), Section(GROOVE, length(1, 2))]
        else:
            sections += [Section(BREAK, int(rng.integers(1, 3))), Section(GROOVE, length(1, 2))]
    first = 0
    has_melody = rng.random() < 0.6
    for section in sections:
        section.first, first = first, first + section.bars
        roles = {"drums", "bass", "comping"} if section.state in (GROOVE, DROP) else {str(rng.choice(["pad", "comping"]))}
        roles |= {role for role, probability in (("melody", 0.5 * has_melody), ("pad", 0.3)) if rng.random() < probability}
        section.roles = frozenset(roles)
    return sections


def returns(sections):
    """(first bar, bars without drums and bass, whether a build leads to it)"""
    result, absent, built = [], 0, False
    for section in sections:
        if "drums" not in section.roles:
            absent, built = absent + section.bars, section.leads_on
        else:
            if absent and section.first > absent:
                result.append((section.first, absent, built))
            absent, built = 0, False
    return result


def roll(rng, first, beats):
    """Strokes that double: quarters, eighths, sixteenths, ever louder."""
    drum, most = int(rng.choice([SNARE, SNARE, CLAP])), int(rng.choice([2, 4, 4]))
    starts = beats * np.array([0.5, 0.75, 0.875] if rng.random() < 0.6 else [0.25, 0.5, 0.75])
    rows, at = [], 0.0
    while at < beats - 1e-6:
        rows.append((first + at, first + at + 0.2, drum, 45 + 75 * (at / beats) ** 0.7 + rng.normal(0, 3)))
        at += 1 / min(most, 2 ** int(np.searchsorted(starts, at, "right")))
    return rows


def swept(audio, edges, is_high=False):
    """Audio below (or above) an edge in hertz, which is interpolated between the values of `edges`: 24 dB per octave."""
    count = len(audio) // (BLOCK // 2) + 2
    padded = np.pad(audio, (BLOCK // 2, (count + 1) * BLOCK // 2 - len(audio)))
    hertz = np.fft.rfftfreq(BLOCK, 1 / SAMPLE_RATE)
    edge = np.exp(np.interp(np.linspace(0, 1, count), np.linspace(0, 1, len(edges)), np.log(edges)))
    result = np.zeros(len(padded))
    for index in range(count):
        part = slice(index * BLOCK // 2, index * BLOCK // 2 + BLOCK)
        ratio = np.maximum(hertz, 1) / edge[index]
        gain = 1 / np.sqrt(1 + ratio ** (-8 if is_high else 8))
        result[part] += np.fft.irfft(np.fft.rfft(padded[part] * np.hanning(BLOCK + 1)[:-1]) * gain, BLOCK)
    return result[BLOCK // 2:BLOCK // 2 + len(audio)].astype(np.float32)


def riser(rng, seconds):
    """Noise, a tone, or both, that rise and get louder."""
    length = int(seconds * SAMPLE_RATE)
    place = np.linspace(0, 1, length)
    low, high = rng.uniform(200, 900), rng.uniform(4000, 14_000)
    kind, audio = rng.choice(["noise", "noise", "tone", "both"]), np.zeros(length)
    if kind != "tone":
        noise = swept(rng.normal(0, 0.3, length), (low, high))
        audio += swept(noise, (low / 3, high / 3), is_high=True) if rng.random() < 0.6 else noise
    if kind != "noise":
        hertz = rng.uniform(150, 500) * 2 ** (rng.uniform(1, 3) * place)
        audio += 0.3 * (2 * (np.cumsum(hertz) / SAMPLE_RATE % 1) - 1)
    return (audio * place ** rng.uniform(0.7, 2)).astype(np.float32)


def compose(rng, name):
    """A song of a genre, and its sections."""
    genre = songs.GENRES[name]
    tempo = float(np.exp(rng.uniform(*np.log(genre.tempi))))
    unit = 8 if tempo > 100 else 4
    sections = plan(rng, unit, int(rng.uniform(LEAST_SECONDS, MOST_SECONDS) * tempo / 60 / genre.meter))
    bars = sections[-1].first + sections[-1].bars
    chords, scale = songs.harmony(rng, genre, bars * genre.meter)
    parts = [(section.first, section.first + section.bars, section.roles) for section in sections]
    rows = songs.notes_of(rng, genre, chords, scale, bars, parts)
    for section in sections:
        start, beats = section.first * genre.meter, section.bars * genre.meter
        if section.state == BUILD:
            rolled = beats if section.bars <= unit else beats // 2
            if rng.random() < 0.75:
                rows["drums"] += roll(rng, start + beats - rolled, rolled)
            if rng.random() < 0.35:  # The kick goes on, at times until the last bar.
                last = beats - genre.meter if rng.random() < 0.5 else beats
                rows["drums"] += [(start + beat, start + beat + 0.5, KICK, 105) for beat in range(last)]
        if section.state in (BUILD, BREAK) and rng.random() < 0.25:
            rows["drums"] += [(start + beat + 0.5, start + beat + 0.6, int(rng.choice([HAT, OPEN_HAT])), 70) for beat in range(beats)]
    count = bars * genre.meter
    return songs.Song(genre, tempo, songs.tracks_of(rng, genre, rows, 0, count), 1 + np.arange(count) % genre.meter), sections


def shape(rng, audio, sections, bar_times):
    """Adds to the audio what rises and falls, filters it, and pauses before drops."""
    level = 4 * np.sqrt(np.mean(audio ** 2))
    for index, section in enumerate(sections):
        start, end = (int(bar_times[bar] * SAMPLE_RATE) for bar in (section.first, section.first + section.bars))
        if section.state == BUILD or section.rises:
            bars = min(section.bars, int(rng.choice([2, 4, 8, 16])))
            if section.state == BUILD and rng.random() < 0.4:
                before = sections[index - 1]
                opened = int(bar_times[before.first if before.state == BREAK and rng.random() < 0.5 else section.first] * SAMPLE_RATE)
                audio[opened:end] = swept(audio[opened:end], (rng.uniform(250, 800), rng.uniform(5000, 16_000)))
            if section.state == BUILD and rng.random() < 0.3:
                audio[start:end] = swept(audio[start:end], (30, rng.uniform(200, 900)), is_high=True)
            if section.rises or rng.random() < 0.8:
                first = int(bar_times[section.first + section.bars - bars] * SAMPLE_RATE)
                audio[first:end] += level * rng.uniform(0.3, 1.2) * riser(rng, (end - first) / SAMPLE_RATE + 1)[:end - first]
        if section.state == BUILD and rng.random() < 0.4:
            beat = (bar_times[section.first + section.bars] - bar_times[section.first + section.bars - 1]) / 4
            audio[max(start, end - int(rng.choice([1, 1, 2, 4]) * beat * SAMPLE_RATE)):end] *= rng.choice([0.0, 0.05])
        elif section.state in (BREAK, DROP) and index and rng.random() < 0.3:  # Noise falls after the change.
            falling = riser(rng, float(rng.uniform(1, 5)))[::-1]
            audio[start:start + len(falling)] += level * rng.uniform(0.3, 0.8) * falling[:len(audio) - start]
    return audio


def make(index, seed, library, synthesizer=None):
    """Track number `index`: (audio, or None without a synthesizer; what is known of it)."""
    rng = np.random.default_rng([seed, index, 77])
    name = GENRES[index % len(GENRES)]
    song, sections = compose(rng, name)
    arrangement = styles.play(rng, library, song)
    bar_times = arrangement.beats[::song.genre.meter]
    seconds = float(2 * bar_times[-1] - bar_times[-2])
    bar_times = np.append(bar_times, seconds)
    states = [section.state for section in sections for _ in range(section.bars)]
    about = {"genre": name, "tempo": song.tempo, "fonts": arrangement.fonts,
             "left_out": name in LEFT_OUT_GENRES or LEFT_OUT_FONT in arrangement.fonts,
             "bars": [(float(time), state) for time, state in zip(bar_times, states)],
             "returns": [(float(bar_times[bar]), absent, bool(built)) for bar, absent, built in returns(sections)]}
    if synthesizer is None:
        return None, about
    audio = place(arrangement.hits, seconds)
    if arrangement.parts:
        played = synthesizer.render(arrangement.parts, seconds, False)
        audio[:len(played)] += played
    audio = shape(rng, audio / max(1e-6, abs(audio).max()), sections, bar_times)
    drive = rng.uniform(1, 3)
    return np.tanh(drive * audio / abs(audio).max()) * 0.5, about


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder with the training material, or with its archives training-*.tar.xz")
    parser.add_argument("folder", help="folder for the tracks")
    parser.add_argument("--count", type=int, default=40, help="number of tracks (default 40)")
    parser.add_argument("--first", type=int, default=0, help="number of the first track (default 0)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    library, synthesizer = styles.Library(unpack(options.data, folder), folder / "scores"), FluidSynth()
    for index in range(options.first, options.first + options.count):
        if not (folder / f"{index:03d}.json").exists():
            audio, about = make(index, options.seed, library, synthesizer)
            soundfile.write(folder / f"{index:03d}.flac", audio, SAMPLE_RATE)
            (folder / f"{index:03d}.json").write_text(json.dumps(about) + "\n")


if __name__ == "__main__":
    main()
