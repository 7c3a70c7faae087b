"""The styles of the training material: each makes an arrangement of 24 s from a random generator and the library of scores."""
import pickle
import re
import subprocess
import tempfile
import zlib
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import butter, resample_poly, sosfilt

from . import arrange, scores, songs
from .arrange import Arrangement, Timing
from .features import SAMPLE_RATE
from .synthesis import oscillator_note, plucked_note

SECONDS = 24.0
SLOWEST, FASTEST = 55.0, 200.0


def excluded_names(text):
    """The file names of a list of pieces that are kept for evaluation; some lines have a folder before the name."""
    lines = [line.strip() for line in text.splitlines()]
    return {line.rpartition("/")[2] for line in lines if line and not line.startswith("#")}


class Library:
    """The scores in a folder of unpacked training material, parsed once and kept in `cache`."""

    def __init__(self, folder, cache):
        folder = self.folder = Path(folder)
        kept = folder / "DO-NOT-USE.txt"
        self.excluded = excluded_names(kept.read_text()) if kept.exists() else set()
        self.cache = Path(cache)
        self.cache.mkdir(parents=True, exist_ok=True)
        self.pieces = {
            "lieder": sorted((folder / "openscore-lieder").glob("*.mxl")),
            "quartet": sorted((folder / "openscore-quartets").glob("*.mxl")),
            "lead-sheet": sorted((folder / "openewld").glob("*.mxl")),
            "pop": sorted(path for path in (folder / "pop909").glob("*") if path.is_dir()),
            "freedoom": sorted((folder / "freedoom").glob("*.mid")),
        }
        self.pieces = {style: [path for path in paths if path.name not in self.excluded] for style, paths in self.pieces.items()}
        empty = [style for style, paths in self.pieces.items() if not paths]
        if empty:
            raise FileNotFoundError(f"{folder}: no scores for {', '.join(empty)}; unpack training-midi and training-extra there")
        self.performances = self._cached("groove", lambda: list(scores.read_groove(folder / "groove")))
        self.samples = {path.stem: _read_sample(path) for path in sorted((folder / "sonicpi-oneshots").glob("*.flac"))}

    def _cached(self, name, make):
        path = self.cache / f"{zlib.crc32(name.encode()):08x}.pickle"
        if not path.exists():
            partial = tempfile.NamedTemporaryFile(dir=self.cache, delete=False)
            with partial:
                pickle.dump(make(), partial)
            Path(partial.name).rename(path)
        return pickle.loads(path.read_bytes())

    def score(self, rng, style):
        """A random piece of a style: (name, score)."""
        readers = {"pop": scores.read_pop909, "freedoom": scores.read_midi}
        reader = readers.get(style, scores.read_musicxml)
        while True:
            path = self.pieces[style][rng.integers(len(self.pieces[style]))]
            found = self._cached(f"{style}/{path.name}", lambda: reader(path))
            found = found if isinstance(found, list) else [found] if found else []
            found = [score for score in found if len(score.positions) >= 24]
            if found:
                sizes = np.array([len(score.positions) for score in found], float)
                return f"{style}/{path.name}", found[rng.choice(len(found), p=sizes / sizes.sum())]

    def performance(self, rng, meter, tempo=None):
        """A drum performance in a meter, recorded near a tempo: (name, score); None if there is none."""
        fitting = [item for item in self.performances if item[1].positions.max() == meter
                   and (tempo is None or 0.75 < item[1].tempo / tempo < 1.35)]
        return fitting[rng.integers(len(fitting))] if fitting else None


def _read_sample(path):
    audio, rate = soundfile.read(path, dtype="float32", always_2d=True)
    audio = audio.mean(axis=1)
    if rate != SAMPLE_RATE:
        audio = resample_poly(audio, SAMPLE_RATE // 100, rate // 100).astype(np.float32)
    # Silence before the attack would move the onset.
    first = int(np.argmax(abs(audio) > 0.02 * abs(audio).max()))
    return audio[max(0, first - 20):] / (abs(audio).max() + 1e-9)


def _tempo(rng, center, spread=0.22, written=None):
    """A tempo near the written one or the genre's, times .8–1.25, within what listeners tap."""
    tempo = written if written and 50 < written < 190 and rng.random() < 0.8 else center * np.exp(rng.normal(0, spread))
    tempo *= np.exp(rng.uniform(np.log(0.8), np.log(1.25)))
    while tempo > FASTEST:
        tempo /= 1.3
    while tempo < SLOWEST:
        tempo *= 1.3
    return float(tempo)


def _window(rng, score, tempo):
    """A random run of whole bars that lasts for 24 s at the tempo."""
    meter = int(score.positions.max()) or 4
    count = min(int(SECONDS * 1.15 * tempo / 60) + meter, len(score.positions))
    starts = np.flatnonzero(score.positions == 1) if score.positions.max() else np.arange(0, len(score.positions), meter)
    starts = starts[starts + count <= len(score.positions)]
    first = int(rng.choice(starts)) if len(starts) else 0
    return score.window(first, min(count, len(score.positions) - first))


def _with_drums(rng, library, score, tempo, probability):
    """Adds a drum track, recorded or generated; returns the ratio of swing."""
    meter = int(score.positions.max()) or 4
    if rng.random() > probability or score.positions.max() == 0:
        return 0.5
    offset = int(np.argmax(score.positions == 1))
    recorded = library.performance(rng, meter, tempo) if rng.random() < 0.5 else None
    if recorded:
        track, swings = arrange.performed_drums(rng, recorded[1], len(score.positions)), False
    else:
        track, swings = arrange.drum_track(rng, len(score.positions), meter, tempo)
    if track is None:
        return 0.5
    notes = track.notes + np.array([offset, offset, 0, 0])
    entry = rng.choice([0, 0, 0, 4 * meter])
    notes = notes[(notes[:, 0] >= entry) & (notes[:, 0] < len(score.positions))]
    score.tracks.append(scores.Track(notes, is_drums=True))
    return float(rng.uniform(0.58, 0.70)) if swings else 0.5


def lead_sheet(rng, library):
    name, score = library.score(rng, "lead-sheet")
    tempo = _tempo(rng, 125 if score.positions.max() == 3 else 112, written=score.tempo)
    score = _window(rng, score, tempo)
    meter = int(score.positions.max())
    for track in score.tracks:
        track.program = int(rng.choice(arrange.MELODY))
    chords = score.chords or arrange.random_chords(rng, len(score.positions), meter)
    score.tracks += arrange.accompaniment(rng, chords, len(score.positions), meter, False)
    swing = _with_drums(rng, library, score, tempo, 0.8)
    if swing == 0.5 and rng.random() < 0.25:
        swing = float(rng.uniform(0.56, 0.68))
    return name, arrange.perform(rng, score, tempo, rng.choice([0.0, 0.004, 0.012]), SECONDS, rng.uniform(0.002, 0.012),
                                 rng.uniform(-10, 6), swing)


def pop(rng, library):
    name, score = library.score(rng, "pop")
    tempo = _tempo(rng, 95, written=score.tempo)
    score = _window(rng, score, tempo)
    meter = int(score.positions.max()) or 4
    programs = [arrange.MELODY, arrange.COMPING, arrange.PIANOS[:6] + (24, 25, 27)]
    for track, choice in zip(score.tracks, programs):
        track.program = int(rng.choice(choice))
    if len(score.tracks) > 2 and rng.random() < 0.25:
        score.tracks.pop(int(rng.integers(2)))
    if score.chords and rng.random() < 0.75:
        score.tracks += arrange.accompaniment(rng, score.chords, len(score.positions), meter, False)[:int(rng.integers(1, 3))]
    if rng.random() < 0.35:
        held = [(start, end, 60 + pitch, 70) for start, end, chord in score.chords for pitch in chord]
        score.tracks.append(scores.Track(scores.sorted_notes(held), int(rng.choice(arrange.STRINGS[-3:] + arrange.PADS))))
    swing = _with_drums(rng, library, score, tempo, 0.8)
    return name, arrange.perform(rng, score, tempo, rng.choice([0.0, 0.003, 0.008, 0.015]), SECONDS, rng.uniform(0, 0.008),
                                 rng.uniform(-10, 8), swing)


def lieder(rng, library):
    name, score = library.score(rng, "lieder")
    tempo = _tempo(rng, 85, written=score.tempo)
    score = _window(rng, score, tempo)
    piano = int(rng.choice((0, 0, 0, 1, 2, 4, 6, 24, 46)))
    is_piano_alone = rng.random() < 0.5 and len(score.tracks) > 1
    for index, track in enumerate(score.tracks):
        track.program = piano
        if index == 0 and not is_piano_alone and len(score.tracks) > 1:
            track.program = int(rng.choice(arrange.CHOIR[:3] + arrange.WINDS + arrange.STRINGS[:3]))
    if is_piano_alone:
        score.tracks = score.tracks[1:]
    freedom = rng.choice([0.008, 0.02, 0.035, 0.06, 0.09])
    return name, arrange.perform(rng, score, tempo, freedom, SECONDS, rng.uniform(0.004, 0.016), rolled=True)


def quartet(rng, library):
    name, score = library.score(rng, "quartet")
    tempo = _tempo(rng, 100, written=score.tempo)
    score = _window(rng, score, tempo)
    ensemble = [(40, 40, 41, 42), (48, 48, 48, 48), (73, 68, 71, 70), (56, 60, 57, 58), (52, 52, 52, 52), (19, 19, 19, 19), (0, 0, 0, 0),
                (44, 48, 45, 43), (65, 64, 66, 67), (6, 6, 6, 6)][rng.choice(10, p=[.3, .12, .12, .08, .06, .08, .08, .04, .06, .06])]
    for track, program in zip(score.tracks, ensemble):
        track.program = program
    return name, arrange.perform(rng, score, tempo, rng.choice([0.006, 0.015, 0.03, 0.06]), SECONDS, rng.uniform(0.004, 0.014))


def drums(rng, library):
    if rng.random() < 0.75:
        name, performance = (rng.random() < 0.03 and library.performance(rng, 3)) or library.performance(rng, 4)
        tempo = _tempo(rng, performance.tempo, 0.02, performance.tempo)
        score, swing = _window(rng, performance, tempo), 0.5
        name = f"groove/{name}"
    else:
        meter = int(rng.choice([4, 4, 4, 3, 2]))
        tempo = _tempo(rng, 112)
        count = int(SECONDS * tempo / 60) + 8
        count -= count % meter
        track, swings = arrange.drum_track(rng, count, meter, tempo)
        score = scores.Score([track], 1 + np.arange(count) % meter, tempo)
        name, swing = f"generated-drums/{rng.integers(1 << 30)}", float(rng.uniform(0.58, 0.7)) if swings else 0.5
    return name, arrange.perform(rng, score, tempo, rng.choice([0.0, 0.003, 0.01]), SECONDS, rng.uniform(0, 0.004), 3, swing)


def freedoom(rng, library):
    name, score = library.score(rng, "freedoom")
    tempo = _tempo(rng, 115, written=score.tempo)
    score = _window(rng, score, tempo)
    return name, arrange.perform(rng, score, tempo, rng.choice([0.0, 0.004]), SECONDS, rng.uniform(0, 0.006), rng.uniform(-8, 4))


# The names of one-shot samples for each drum; other drums are percussion.
ONE_SHOTS = {arrange.KICK: "bd_|kick", arrange.SNARE: "sn_|snare", arrange.SIDE_STICK: "snap|elec_tick|elec_wood|perc_snap|sn_", arrange.CLAP: "snap|sn_|snare",
             arrange.HAT: "hat_", arrange.OPEN_HAT: "hat_|cymbal", arrange.RIDE: "ride|cymbal", arrange.CRASH: "cymbal|splash"}


def one_shot(rng, library, instrument):
    """A sample for a drum, at a pitch of its own."""
    names = [name for name in library.samples if re.search(ONE_SHOTS.get(instrument, "perc_|elec_|tabla_"), name)]
    audio = library.samples[names[rng.integers(len(names))]]
    return resample_poly(audio, 100, int(rng.integers(80, 126))).astype(np.float32)[:2 * SAMPLE_RATE]


def song(rng, library):
    """A song of `songs.py`."""
    names = list(songs.GENRES)
    shares = np.array([songs.GENRES[name].share for name in names])
    name = names[rng.choice(len(names), p=shares / shares.sum())]
    composed = songs.compose(rng, name, SECONDS)
    arrangement = play(rng, library, composed)
    return f"song/{name}-{rng.integers(1 << 30)}", arrangement


def play(rng, library, composed):
    """A song, played by a band of soundfonts, by one-shots and oscillators, or by both."""
    genre, meter = composed.genre, composed.genre.meter
    is_machine = rng.random() < genre.machine
    freedom = 0.0 if is_machine else rng.choice(genre.freedom)
    start = rng.uniform(0, 0.1) if rng.random() < 0.6 else None
    timing = Timing(rng, len(composed.positions), composed.tempo, freedom, meter, start)
    # Machines play the drums and the bass, and the other parts half of the time each.
    sequenced = {role for role in composed.tracks if is_machine and (role in ("drums", "bass") or rng.random() < 0.5)}
    played = [track for role, track in composed.tracks.items() if role not in sequenced]
    score = scores.Score(played, composed.positions, composed.tempo)
    arrangement = arrange.perform(rng, score, composed.tempo, freedom, SECONDS, rng.uniform(0, 0.003) if is_machine else rng.uniform(0.001, 0.010),
                                  rng.uniform(-8, 6), timing=timing)
    kick_level = rng.uniform(0.15, 0.4)
    bass_gain = kick_level * rng.uniform(*genre.bass_level)
    onsets = [arrangement.onsets]
    for role in sorted(sequenced):
        track = composed.tracks[role]
        if role == "drums":
            arrangement.hits += _sampled_drums(rng, library, track, timing, kick_level)
            notes = track.notes
            arrangement.drums = np.concatenate([arrangement.drums, arrange.drum_rows(timing(notes[:, 0]), notes[:, 2], notes[:, 3])])
        else:
            gain = bass_gain if role == "bass" else kick_level * rng.uniform(0.1, 0.35)
            arrangement.hits += _oscillated(rng, track, timing, role, gain)
        onsets.append(timing(track.notes[track.notes[:, 3] > 25, 0]))
    arrangement.onsets = np.concatenate(onsets)
    arrangement.fonts = tuple(sorted({*arrangement.fonts, *(("one-shots",) if sequenced else ())}))
    return arrangement


def bass_line(rng, library):
    """The bass of a song alone or with pads, from a soundfont or an oscillator: low attacks that are no drums."""
    names = list(songs.GENRES)
    while True:
        composed = songs.compose(rng, names[rng.integers(len(names))], SECONDS)
        if "bass" in composed.tracks:
            break
    timing = Timing(rng, len(composed.positions), composed.tempo, rng.choice(composed.genre.freedom), composed.genre.meter)
    is_machine = rng.random() < 0.4
    played = [track for role, track in composed.tracks.items() if role == "pad" or (role == "bass" and not is_machine)]
    score = scores.Score(played, composed.positions, composed.tempo)
    arrangement = arrange.perform(rng, score, composed.tempo, 0, SECONDS, rng.uniform(0, 0.006), timing=timing)
    bass = composed.tracks["bass"]
    if is_machine:
        arrangement.hits = _oscillated(rng, bass, timing, "bass", rng.uniform(0.1, 0.5))
        arrangement.onsets = np.concatenate([arrangement.onsets, timing(bass.notes[:, 0])])
        arrangement.fonts = tuple(sorted({*arrangement.fonts, "one-shots"}))
    return f"bass/{rng.integers(1 << 30)}", arrangement


def _sampled_drums(rng, library, track, timing, level):
    sounds = {}
    for instrument in np.unique(track.notes[:, 2]):
        gain = level * (1 if instrument == arrange.KICK else rng.uniform(0.4, 1) if instrument in (arrange.SNARE, arrange.CLAP) else rng.uniform(0.2, 0.9))
        sounds[int(instrument)] = (one_shot(rng, library, int(instrument)), gain)
    return [(float(time), sounds[int(pitch)][0], sounds[int(pitch)][1] * velocity / 110)
            for time, (_, _, pitch, velocity) in zip(timing(track.notes[:, 0]), track.notes)]


def _oscillated(rng, track, timing, role, gain):
    """Hits for the notes of a bass, chords, pads or a melody."""
    attack = rng.choice([0.1, 0.3, 0.6]) if role == "pad" else rng.choice([0.002, 0.004, 0.02])
    decay = rng.uniform(1, 5) if role == "pad" else rng.uniform(0.08, 1.0)
    patch = (rng.choice(["saw", "square", "sine", "fm"]), rng.uniform(2, 12), attack, decay, rng.choice([0, 0.003, 0.005]))
    octaves = 12 * int(rng.integers(0, 2)) if role == "bass" else 0
    cache, hits = {}, []
    starts, ends = timing(track.notes[:, 0]), timing(track.notes[:, 1])
    for start, end, pitch, velocity in zip(starts, ends, track.notes[:, 2], track.notes[:, 3]):
        key = (int(pitch) + octaves, round(max(float(end - start), 0.05), 2))
        if key not in cache:
            cache[key] = oscillator_note(rng, *key, patch)
        hits.append((float(start), cache[key], gain * velocity / 90))
    return hits


def electronic(rng, library):
    """One-shot drums, a synthesized bass, chords and arpeggios over a generated harmony."""
    kind = rng.choice(["house", "techno", "drum-and-bass", "hip-hop", "synth-pop", "break"], p=[.25, .2, .12, .15, .18, .1])
    tempo = _tempo(rng, {"house": 122, "techno": 132, "drum-and-bass": 170, "hip-hop": 88, "synth-pop": 112, "break": 128}[kind], 0.06)
    patterns = {"house": ("four", "four2"), "techno": ("four", "four2"), "drum-and-bass": ("breakbeat",), "hip-hop": ("hip-hop",),
                "synth-pop": ("rock", "rock2", "four"), "break": ("breakbeat", "funk")}[kind]
    count = int(SECONDS * tempo / 60) + 4
    timing = Timing(rng, count, tempo, 0.0)
    swing = float(rng.uniform(0.5, 0.58)) if rng.random() < 0.3 else 0.5
    arrangement = Arrangement(beats=timing.times[:count], positions=1 + np.arange(count) % 4)
    _, _, hits = arrange.GROOVES[rng.choice(patterns)]
    onsets, drums = [], []
    entries = rng.permutation([0, 0, 0, 8, 16, 24])
    layers = [(pattern, one_shot(rng, library, instrument), rng.uniform(0.3, 1), instrument) for instrument, pattern in hits.items()]
    layers.append(("".join(rng.choice(["x", "."], 16, p=[.25, .75])), one_shot(rng, library, None), rng.uniform(0.1, 0.5), -1))
    for layer, (pattern, audio, gain, instrument) in enumerate(layers):
        for beat in np.arange(entries[layer % 6], count, 0.25):
            if pattern[int(beat * 4) % len(pattern)] != "." and rng.random() > 0.02:
                time = float(timing(swung_quarter(beat, swing)))
                arrangement.hits.append((time, audio, gain * rng.uniform(0.75, 1)))
                onsets.append(time)
                drums.append((time, instrument, 100))
    chords = arrange.random_chords(rng, count, 4)
    bass_patch = (rng.choice(["saw", "square", "sine", "fm"]), rng.uniform(2, 10), 0.004, rng.uniform(0.1, 0.8), rng.choice([0, 0.003]))
    chord_patch = (rng.choice(["saw", "square", "fm", "sine"]), rng.uniform(2, 8), rng.choice([0.004, 0.02, 0.2]), rng.uniform(0.15, 2), 0.004)
    bass_steps = rng.choice(["x...x...x...x...", "..x...x...x...x.", "x.xxx.xxx.xxx.xx", "x..x..x.x..x..x.", "x.......x..x...."])
    chord_steps = rng.choice(["x...............", "..x...x...x...x.", "x..x..x...x.x...", "....x.......x...", "x.x.x.x.x.x.x.x."])
    cache = {}

    def note(pitch, length, patch):
        key = (pitch, round(length, 2), patch)
        if key not in cache:
            cache[key] = plucked_note(rng, pitch, length, 0.995) if patch[0] == "pluck" else oscillator_note(rng, pitch, length, patch)
        return cache[key]

    bass_gain, chord_gain = rng.uniform(0, 0.8), rng.uniform(0, 0.35)
    for start, end, chord in chords:
        for beat in np.arange(start, min(end, count), 0.25):
            time = float(timing(swung_quarter(beat, swing)))
            step = int(beat * 4) % 16
            if bass_steps[step] != "." and beat >= entries[4] and bass_gain > 0.1:
                arrangement.hits.append((time, note(36 + chord[0] % 12, 0.3 * 60 / tempo * 2, bass_patch), bass_gain))
                onsets.append(time)
            if chord_steps[step] != "." and beat >= entries[5] and chord_gain > 0.05:
                length = 60 / tempo * (4 if chord_steps.count("x") == 1 else 0.45)
                arrangement.hits += [(time, note(60 + pitch % 12, length, chord_patch), chord_gain) for pitch in chord]
                onsets.append(time)
    arrangement.onsets = np.array(onsets)
    arrangement.drums = arrange.drum_rows(*zip(*drums)) if drums else arrangement.drums
    arrangement.fonts = ("one-shots",)
    return f"electronic/{kind}-{rng.integers(1 << 30)}", arrangement


def swung_quarter(beat, swing):
    """Swing of the sixteenth notes."""
    half = np.floor(beat * 2 + 1e-6)
    part = beat * 2 - half
    return (half + np.where(part < 0.25, part, part - 0.5 + swing)) / 2


def clicks(rng, library):
    """A metronome, sometimes with another sound on the downbeat. The labels are exact."""
    tempo = rng.uniform(SLOWEST, FASTEST)
    meter = int(rng.choice([0, 2, 3, 4]))
    count = int(SECONDS * tempo / 60) + 2
    timing = Timing(rng, count, tempo, rng.choice([0.0, 0.0, 0.01]), 4)
    hertz, length = rng.uniform(400, 4000), rng.uniform(0.002, 0.08)
    time = np.arange(int(0.1 * SAMPLE_RATE)) / SAMPLE_RATE
    names = [name for name in library.samples if re.search("elec_|perc_|hat_|cowbell|drum_", name)]
    sounds = {
        "sine": (np.sin(2 * np.pi * hertz * time) * np.exp(-time / length)).astype(np.float32),
        "noise": (rng.normal(0, 0.5, len(time)) * np.exp(-time / length)).astype(np.float32),
        "pulse": np.eye(1, 20, dtype=np.float32)[0],
        "sample": library.samples[names[rng.integers(len(names))]][:SAMPLE_RATE // 2],
    }
    sound = sounds[rng.choice(list(sounds))]
    accent = resample_poly(sound, 2, 3).astype(np.float32) if rng.random() < 0.5 else sound
    gain = rng.uniform(0.4, 1)
    hits = [(t, accent if meter and index % meter == 0 else sound, 1 if meter and index % meter == 0 else gain)
            for index, t in enumerate(timing.times[:count])]
    positions = 1 + np.arange(count) % meter if meter else np.zeros(count, int)
    arrangement = Arrangement(hits=hits, beats=timing.times[:count], positions=positions, onsets=timing.times[:count],
                              fonts=("clicks",), delay=False)
    return f"clicks/{rng.integers(1 << 30)}", arrangement


def metronome(rng, library):
    """Beeps and clicks of a metronome, soft and hard, slow and fast, sometimes with an accent, which begins the bar. The labels are exact."""
    tempo = float(np.exp(rng.uniform(np.log(40), np.log(240))))
    meter = int(rng.choice([0, 0, 2, 3, 4, 4]))
    count = int(SECONDS * tempo / 60) + 2
    timing = Timing(rng, count, tempo, 0.0, 4, rng.uniform(0, 1.0))
    times = timing.times[:count]
    hertz, seconds = float(np.exp(rng.uniform(np.log(200), np.log(8000)))), float(np.exp(rng.uniform(np.log(0.002), np.log(0.1))))
    envelope = rng.choice(["hann", "hard", "decay"])
    overtones = rng.random() < 0.3

    def beep(hertz, seconds):
        time = np.arange(max(8, int(seconds * SAMPLE_RATE))) / SAMPLE_RATE
        audio = np.sin(2 * np.pi * hertz * time)
        if overtones:
            audio += 0.5 * np.sin(4 * np.pi * hertz * time) + 0.3 * np.sin(6 * np.pi * hertz * time)
        if envelope == "hann":
            audio = audio * np.hanning(len(time))
        elif envelope == "decay":
            audio = audio * np.exp(-4 * time / time[-1])
        return audio.astype(np.float32)

    sound = accent = beep(hertz, seconds)
    gain, kind = 1.0, rng.choice(["pitch", "level", "both", "length"])
    if meter and kind in ("pitch", "both"):
        accent = beep(min(hertz * rng.choice([1.25, 4 / 3, 1.5, 2.0, 0.5, 0.75]), 10_000), seconds)
    if meter and kind in ("level", "both"):
        gain = 10 ** (-rng.uniform(3, 12) / 20)
    if meter and kind == "length":
        accent = beep(hertz, min(seconds * rng.uniform(1.7, 4), 0.3))
    first = int(rng.integers(meter)) if meter else 0
    positions = 1 + (first + np.arange(count)) % meter if meter else np.zeros(count, int)
    hits = [(float(t), accent, 1.0) if place == 1 else (float(t), sound, gain) for t, place in zip(times, positions)]
    # The middle of a soft attack is what is heard as its time.
    late = 0.25 * seconds if envelope == "hann" else 0.0
    return f"metronome/{rng.integers(1 << 30)}", Arrangement(hits=hits, beats=times + late, positions=positions, onsets=times + late,
                                                             fonts=("clicks",), delay=False)


VOICES = ("en-us", "en-gb", "de", "fr", "es", "it", "pt-br", "nl", "pl", "sv", "en-us+f2", "en-us+f4", "en-us+m5", "en-us+croak", "de+f3", "fr+f1")


def speech_audio(rng):
    """24 s of synthetic speech (espeak-ng): random sentences of the licence texts of Debian."""
    texts = [path.read_text(errors="ignore") for path in sorted(Path("/usr/share/common-licenses").glob("*")) if not path.is_symlink()]
    words = re.findall(r"[A-Za-z,.;]+", texts[rng.integers(len(texts))])
    first = int(rng.integers(max(1, len(words) - 200)))
    parts, total = [], 0
    while total < SECONDS * SAMPLE_RATE:
        phrase = " ".join(words[first:first + int(rng.integers(4, 30))])
        first = (first + 30) % max(1, len(words) - 40)
        with tempfile.NamedTemporaryFile(suffix=".wav") as file:
            subprocess.run(["espeak-ng", "-v", str(rng.choice(VOICES)) if not parts else voice, "-s", str(rng.integers(110, 220)),
                            "-p", str(rng.integers(20, 80)), "-w", file.name, phrase], check=True, capture_output=True)
            audio, rate = soundfile.read(file.name, dtype="float32")
        voice = str(rng.choice(VOICES)) if rng.random() < 0.1 or not parts else voice
        parts += [resample_poly(audio, SAMPLE_RATE, rate).astype(np.float32), np.zeros(int(rng.uniform(0.05, 0.9) * SAMPLE_RATE), np.float32)]
        total += len(parts[-1]) + len(parts[-2])
    return np.concatenate(parts)[:int(SECONDS * SAMPLE_RATE)]


def beatless(rng, library):
    """Material without beats: speech, noise, applause, silence, held chords and irregular strokes."""
    kind = rng.choice(["speech", "noise", "applause", "silence", "pads", "irregular"], p=[.4, .15, .12, .05, .16, .12])
    length = int(SECONDS * SAMPLE_RATE)
    arrangement = Arrangement(fonts=(kind,), has_onsets=kind not in ("speech", "applause"))
    if kind == "speech":
        arrangement.hits = [(0.0, speech_audio(rng), 1.0)]
    elif kind == "noise":
        audio = rng.normal(0, 0.1, length)
        if rng.random() < 0.7:
            audio = sosfilt(butter(1, rng.uniform(100, 5000), str(rng.choice(["low", "high"])), fs=SAMPLE_RATE, output="sos"), audio)
        audio *= np.exp(np.interp(np.arange(length), np.linspace(0, length, 12), rng.normal(0, rng.uniform(0, 0.7), 12)))
        arrangement.hits = [(0.0, audio.astype(np.float32), 1.0)]
    elif kind == "applause":
        time = np.arange(int(0.03 * SAMPLE_RATE)) / SAMPLE_RATE
        claps = [(rng.normal(0, 1, len(time)) * np.exp(-time / rng.uniform(0.002, 0.008))).astype(np.float32) for _ in range(40)]
        times = rng.uniform(0, SECONDS, int(SECONDS * rng.uniform(20, 250)))
        arrangement.hits = [(float(t), claps[rng.integers(40)], rng.uniform(0.05, 1)) for t in times]
    elif kind == "pads":
        starts = np.cumsum(rng.uniform(1.2, 6, 16))
        parts = []
        for _ in range(int(rng.integers(1, 4))):
            notes = [(t, t + rng.uniform(2, 8), int(rng.integers(40, 80)), int(rng.integers(40, 100)))
                     for t in starts + rng.uniform(0, 1.5) for _ in range(int(rng.integers(1, 4)))]
            program = int(rng.choice(arrange.PADS + arrange.STRINGS[-3:] + arrange.CHOIR + arrange.ORGANS))
            parts.append((np.array(notes), str(rng.choice(list(arrange.SOUNDFONTS))), program, False, 90))
        arrangement.parts = parts
        arrangement.has_onsets = False
    elif kind == "irregular":
        names = list(library.samples)
        times = np.cumsum(rng.exponential(rng.uniform(0.15, 1.2), 200))
        times = times[times < SECONDS]
        choice = rng.choice(names, int(rng.integers(1, 6)))
        arrangement.hits = [(float(t), library.samples[rng.choice(choice)], rng.uniform(0.1, 1)) for t in times]
        arrangement.onsets = times
    return f"{kind}/{rng.integers(1 << 30)}", arrangement


# Each style and its share.
STYLES = {song: 0.39, bass_line: 0.03, lead_sheet: 0.11, pop: 0.11, lieder: 0.08, quartet: 0.05, drums: 0.06, electronic: 0.03, freedoom: 0.03, clicks: 0.02,
          metronome: 0.03, beatless: 0.06}
