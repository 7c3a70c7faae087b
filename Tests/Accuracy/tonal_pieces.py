"""Makes pieces with a known key and known chords, as audio: lead sheets and scores in MusicXML, and generated cadences.

    tonal_pieces.py FOLDER [--sheets DIR] [--scores DIR] [--count N] [--half 0|1] [--jobs N]

FOLDER gets audio/ID.wav, ID.lab (lines "start end chord", Harte's syntax; lead sheets and cadences) and ID.key ("A minor") where the
key is certain. A sheet is an .mxl file with a melody and harmony elements, a score an .mxl file without. Arrangement, instruments,
tempo and transposition follow from the name, so that a name always gives the same audio. Pieces are in half 0 or 1 by their names too:
constants were chosen on half 0, and half 1 is for scores. Requires fluidsynth and its soundfont (music.py). Without --sheets and
--scores: cadences alone.
"""

import argparse
import concurrent.futures
import hashlib
import io
import pathlib
import random
import zipfile
from xml.etree import ElementTree

from music import synthesize

STEPS = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}
NAMES = ["C", "Db", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B"]
# MusicXML's kinds of chords: quality in Harte's syntax, semitones above the root.
KINDS = {
    "major": ("maj", (0, 4, 7)), "minor": ("min", (0, 3, 7)), "augmented": ("aug", (0, 4, 8)), "diminished": ("dim", (0, 3, 6)),
    "dominant": ("7", (0, 4, 7, 10)), "major-seventh": ("maj7", (0, 4, 7, 11)), "minor-seventh": ("min7", (0, 3, 7, 10)),
    "diminished-seventh": ("dim7", (0, 3, 6, 9)), "half-diminished": ("hdim7", (0, 3, 6, 10)), "augmented-seventh": ("aug(b7)", (0, 4, 8, 10)),
    "minor-major": ("minmaj7", (0, 3, 7, 11)), "major-minor": ("minmaj7", (0, 3, 7, 11)), "major-sixth": ("maj6", (0, 4, 7, 9)),
    "minor-sixth": ("min6", (0, 3, 7, 9)), "dominant-ninth": ("9", (0, 4, 7, 10, 2)), "major-ninth": ("maj9", (0, 4, 7, 11, 2)),
    "minor-ninth": ("min9", (0, 3, 7, 10, 2)), "dominant-11th": ("11", (0, 4, 7, 10, 2, 5)), "minor-11th": ("min11", (0, 3, 7, 10, 2, 5)),
    "dominant-13th": ("13", (0, 4, 7, 10, 2, 9)), "minor-13th": ("min13", (0, 3, 7, 10, 2, 9)), "suspended-second": ("sus2", (0, 2, 7)),
    "suspended-fourth": ("sus4", (0, 5, 7)),
}
MELODIES = [0, 11, 21, 24, 26, 40, 52, 56, 65, 66, 68, 71, 73, 80]
CHORDS = [0, 0, 1, 4, 5, 16, 19, 24, 25, 26, 27, 48, 89]
BASSES = [32, 33, 34, 35, 38]
# Seconds of a piece.
LONGEST = 75


class Piece:
    """Notes and chords in quarter notes. A track is (program, notes); program None: drums. A note is (start, end, pitch, velocity)."""

    def __init__(self, tracks, chords=(), tonic=None, mode=None, tempo=None, meter=4):
        self.tracks, self.chords, self.tonic, self.mode, self.tempo, self.meter = tracks, list(chords), tonic, mode, tempo, meter


def read_musicxml(path):
    """A list of parts, each a list of notes; chords (start, end, root, quality, semitones); the key signatures; the meter."""
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".xml") and not name.startswith("META-INF"))
        root = ElementTree.parse(io.BytesIO(archive.read(name))).getroot()
    parts, chords, signatures, meters, end = [], [], [], [], 0.0
    for part in root.iter("part"):
        divisions, transposition, start, notes, open_ties = 1.0, 0, 0.0, [], {}
        for measure in part.iter("measure"):
            at, longest, last = start, start, start
            for item in measure:
                if item.tag == "attributes":
                    divisions = float(item.findtext("divisions") or divisions)
                    if item.findtext("key/fifths") is not None:
                        signatures.append((int(item.findtext("key/fifths")), item.findtext("key/mode")))
                    if (item.findtext("time/beats") or "").isdigit():
                        meters.append((int(item.findtext("time/beats")), int(item.findtext("time/beat-type"))))
                    if item.find("transpose") is not None:
                        transposition = int(item.findtext("transpose/chromatic") or 0)
                elif item.tag in ("backup", "forward"):
                    at += float(item.findtext("duration")) / divisions * (1 if item.tag == "forward" else -1)
                elif item.tag == "harmony" and item.findtext("root/root-step"):
                    pitch = STEPS[item.findtext("root/root-step")] + int(float(item.findtext("root/root-alter") or 0))
                    quality, shape = KINDS.get(item.findtext("kind") or "major", ("X", (0, 7)))
                    if item.find("degree") is not None:
                        quality, shape = with_degrees(quality, list(shape), item.findall("degree"))
                    chords.append((at + float(item.findtext("offset") or 0) / divisions, pitch % 12, quality, shape))
                elif item.tag == "note" and item.find("grace") is None:
                    length = float(item.findtext("duration") or 0) / divisions
                    begin = last if item.find("chord") is not None else at
                    if item.find("pitch") is not None and item.find("cue") is None:
                        pitch = (12 * (int(item.findtext("pitch/octave")) + 1) + STEPS[item.findtext("pitch/step")]
                                 + int(float(item.findtext("pitch/alter") or 0)) + transposition)
                        ties = {tie.get("type") for tie in item.findall("tie")}
                        if "stop" in ties and pitch in open_ties:
                            notes[open_ties[pitch]][1] = begin + length
                        else:
                            open_ties[pitch] = len(notes)
                            notes.append([begin, begin + length, pitch, 80])
                        if "start" not in ties:
                            open_ties.pop(pitch, None)
                    if item.find("chord") is None:
                        last, at = at, at + length
                longest = max(longest, at)
            start = longest
        end = max(end, start)
        parts.append(notes)
    chords.sort(key=lambda chord: chord[0])
    ends = [chord[0] for chord in chords[1:]] + [end]
    chords = [(chord[0], stop, *chord[1:]) for chord, stop in zip(chords, ends) if stop > chord[0] + 1e-6]
    return parts, chords, signatures, meters


def with_degrees(quality, shape, degrees):
    """A chord with altered or added degrees. An altered fifth changes the quality."""
    semitones = {1: 0, 2: 2, 3: 4, 4: 5, 5: 7, 6: 9, 7: 10, 9: 14, 11: 17, 13: 21}
    for degree in degrees:
        value, alter = int(degree.findtext("degree-value")), int(float(degree.findtext("degree-alter") or 0))
        kind = degree.findtext("degree-type")
        pitch = (semitones.get(value, 0) + alter) % 12
        if value == 5 and kind == "alter":
            shape = [step for step in shape if step not in (6, 7, 8)] + [pitch]
            quality = {("maj", 1): "aug", ("7", 1): "aug(b7)", ("min7", -1): "hdim7", ("min", -1): "dim"}.get((quality, alter), "X")
        elif kind == "subtract":
            shape, quality = [step for step in shape if step != pitch] or [0], "X"
        elif pitch not in shape:
            shape.append(pitch)
            quality = {("maj", 10): "7", ("maj", 11): "maj7", ("min", 10): "min7"}.get((quality, pitch), quality)
    return quality, tuple(shape)


def signature_key(signatures, final_root, final_is_minor):
    """Tonic and mode where one key signature and the final chord agree; else None."""
    fifths = {fifths for fifths, _ in signatures}
    if len(fifths) != 1:
        return None
    major = 7 * fifths.pop() % 12
    if final_root == major and not final_is_minor:
        return major, "major"
    if final_root == (major + 9) % 12 and final_is_minor:
        return final_root, "minor"
    return None


def read_sheet(path, rng):
    """A lead sheet with an accompaniment."""
    parts, chords, signatures, meters = read_musicxml(path)
    if not chords or len(set(meters)) > 1:
        return None
    _, _, root, quality, shape = chords[-1]
    key = signature_key(signatures, root, 3 in shape and 4 not in shape) if quality != "X" else None
    beats, unit = meters[0] if meters else (4, 4)
    piece = Piece([(rng.choice(MELODIES), parts[0])], chords, *(key or (None, None)), meter=beats * 4 / unit)
    accompany(piece, rng)
    return piece


def read_score(path, rng):
    """A score of several parts without chord symbols; its key is certain if the bass of the last chord is the tonic of the signature."""
    parts, _, signatures, _ = read_musicxml(path)
    parts = [part for part in parts if part]
    if not parts:
        return None
    end = max(note[1] for part in parts for note in part)
    final = sorted({note[2] for part in parts for note in part if note[1] > end - 0.01})
    if not final:
        return None
    classes = {(pitch - final[0]) % 12 for pitch in final}
    key = signature_key(signatures, final[0] % 12, 3 in classes) if len(classes) > 1 and not {3, 4} <= classes else None
    if key is None:
        return None
    solo = rng.choice([40, 52, 68, 73])
    programs = {2: [solo, 0], 4: [40, 40, 41, 42]}.get(len(parts), [solo] * (len(parts) - 1) + [0])
    return Piece(list(zip(programs, parts)), (), *key)


# Cadences: degrees in semitones above the tonic, with a quality.
PHRASES = {
    "major": [
        "0:maj 9:min 5:maj 7:7", "0:maj 5:maj 7:maj 0:maj", "0:maj 9:min7 2:min7 7:7", "0:maj 4:min 5:maj 7:maj", "9:min 5:maj 0:maj 7:maj",
        "0:maj 0:7 5:maj 7:7", "0:maj7 9:7 2:min7 7:7", "5:maj7 4:min7 2:min7 0:maj7", "0:maj 2:7 7:maj 7:7", "2:min 7:7 0:maj 0:maj",
    ],
    "minor": [
        "0:min 8:maj 3:maj 10:maj", "0:min 5:min 7:7 0:min", "0:min 10:maj 8:maj 7:7", "0:min 5:min7 10:7 3:maj7", "0:min 3:maj 5:min 7:maj",
        "8:maj7 5:min7 7:7 0:min", "0:min 0:7 5:min 7:7", "0:min 10:maj 3:maj 7:7", "5:min 0:min 7:7 0:min",
    ],
}
SCALES = {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 10)}
SHAPES = {quality: shape for quality, shape in KINDS.values()}


def make_cadences(rng):
    """A song of a few phrases in one key, with a melody of chord and scale notes that ends on the tonic."""
    tonic, mode = rng.randrange(12), rng.choice(["major", "minor"])
    phrases = rng.sample(PHRASES[mode], 3)
    order = [phrases[index] for index in (0, 0, 1, 0, 2, 1, 0)]
    length = rng.choice([2, 4, 4])
    chords, at = [], 0.0
    for phrase in [*order, "5:maj 7:7 0:maj" if mode == "major" else "5:min 7:7 0:min"]:
        for word in phrase.split():
            degree, quality = word.split(":")
            chords.append((at, at + length, (tonic + int(degree)) % 12, quality, SHAPES[quality]))
            at += length
    melody, pitch = [], 72
    for start, end, root, _, shape in chords:
        step = start
        while step < end - 1e-6:
            duration = min(rng.choice([0.5, 1, 1, 2]), end - step)
            classes = [(root + note) % 12 for note in shape]
            if step > start and rng.random() < 0.4:
                classes = [(tonic + note) % 12 for note in SCALES[mode]]
            near = [note for note in range(pitch - 7, pitch + 8) if note % 12 in classes and 60 <= note <= 84]
            pitch = rng.choice(near or [72])
            if rng.random() < 0.85:
                melody.append([step, step + duration, pitch, 80])
            step += duration
    piece = Piece([(rng.choice(MELODIES), melody)], chords, tonic, mode)
    accompany(piece, rng)
    return piece


def accompany(piece, rng):
    """Adds bass, chords and, in two of three pieces, drums. In a quarter of those the drums begin two bars earlier."""
    bass, comping = [], []
    bass_style = rng.choice(["root", "root", "fifth", "walking", "octaves", "none"])
    style = rng.choice(["held", "held", "beats", "offbeats", "arpeggio", "eighths", "charleston"])
    low, high = rng.randrange(28, 38), rng.randrange(51, 61)
    for start, end, root, _, shape in piece.chords:
        bottom = low + (root - low) % 12
        voicing = sorted({high + (root + step - high) % 12 for step in shape})
        if style == "held":
            comping += [(start, end - 0.05, pitch, 70) for pitch in voicing]
        beat = start
        while beat < end - 1e-6:
            stop, place = min(end, beat + 1), int(round(beat - start))
            pitch = {
                "fifth": bottom + (7 if place % 4 == 2 else 0), "octaves": bottom + 12 * (place % 2),
                "walking": bottom if place == 0 else low + (root + rng.choice(shape) - low) % 12,
            }.get(bass_style, bottom)
            if bass_style in ("walking", "octaves") or (bass_style in ("root", "fifth") and place % 2 == 0):
                bass.append((beat, stop if bass_style in ("walking", "octaves") else min(end, beat + 2), pitch, 90))
            hits = {"beats": [(0, 0.9)], "offbeats": [(0.5, 0.4)], "eighths": [(0, 0.45), (0.5, 0.45)],
                    "charleston": [(0, 0.4)] if place % 4 == 0 else [(0.5, 0.4)] if place % 4 == 1 else []}.get(style, [])
            for offset, length in hits:
                if beat + offset < end - 1e-6:
                    comping += [(beat + offset, min(end, beat + offset + length), note, 68) for note in voicing]
            if style == "arpeggio":
                comping += [(beat + half / 2, min(end, beat + half / 2 + 1), voicing[(2 * place + half) % len(voicing)], 70)
                            for half in (0, 1) if beat + half / 2 < end - 1e-6]
            beat += 1
    if bass_style != "none":
        piece.tracks.append((rng.choice(BASSES), bass))
    piece.tracks.append((rng.choice(CHORDS), comping))
    if rng.random() < 0.66:
        lead = 2 * piece.meter if rng.random() < 0.25 else 0
        end = max(chord[1] for chord in piece.chords) + lead
        drums, beat = [], 0.0
        while beat < end - 1e-6:
            place = beat % piece.meter
            drums += [(beat, beat + 0.2, 42, 70), (beat + 0.5, beat + 0.7, 42, 55)]
            drums.append((beat, beat + 0.2, 36 if place in (0, 2) else 38, 95))
            beat += 1
        for _, notes in piece.tracks:
            notes[:] = [(start + lead, stop + lead, pitch, velocity) for start, stop, pitch, velocity in notes]
        piece.chords = [(start + lead, stop + lead, *rest) for start, stop, *rest in piece.chords]
        piece.tracks.append((None, drums))


def midi_file(piece, tempo, transposition):
    """A MIDI file of format 1 with 480 ticks per quarter note."""
    def number(value):
        data = [value & 0x7F]
        while value := value >> 7:
            data.append(value & 0x7F | 0x80)
        return bytes(reversed(data))

    def chunk(events):
        data, last = b"", 0
        for tick, _, event in sorted(events, key=lambda item: item[:2]):
            data += number(tick - last) + event
            last = tick
        data += b"\x00\xff\x2f\x00"
        return b"MTrk" + len(data).to_bytes(4, "big") + data

    chunks = [chunk([(0, 0, b"\xff\x51\x03" + round(60e6 / tempo).to_bytes(3, "big"))])]
    channels = [channel for channel in range(16) if channel != 9]
    for index, (program, notes) in enumerate(piece.tracks[:15]):
        channel = 9 if program is None else channels[index]
        events = [] if program is None else [(0, 0, bytes([0xC0 | channel, program]))]
        for start, end, pitch, velocity in notes:
            key = min(max(int(pitch) + (0 if program is None else transposition), 0), 127)
            first, last = round(480 * max(start, 0)), round(480 * end)
            if last > first:
                events += [(first, 2, bytes([0x90 | channel, key, velocity])), (last, 1, bytes([0x80 | channel, key, 0]))]
        chunks.append(chunk(events))
    return b"MThd" + (6).to_bytes(4, "big") + (1).to_bytes(2, "big") + len(chunks).to_bytes(2, "big") + (480).to_bytes(2, "big") + b"".join(
        chunks)


def make(name, read, folder, needs_key):
    """Writes audio and annotations of a piece; False if it has none, or no certain key and it needs one."""
    rng = random.Random(hashlib.sha256(name.encode()).hexdigest())
    piece = read(rng)
    if piece is None or needs_key and piece.tonic is None:
        return False
    tempo = rng.uniform(76, 168) if piece.meter != 3 else rng.uniform(90, 180)
    transposition = rng.randrange(-5, 7)
    longest = LONGEST * tempo / 60
    piece.tracks = [(program, [note for note in notes if note[0] < longest]) for program, notes in piece.tracks]
    audio = folder / "audio" / f"{name}.wav"
    if not audio.exists():
        midi = folder / f"{name}.mid"
        midi.write_bytes(midi_file(piece, tempo, transposition))
        partial = audio.with_suffix(".part")
        synthesize(midi, partial, 0.6)
        partial.rename(audio)
        midi.unlink()
    if piece.chords:
        lines, last = [], 0.0
        for start, end, root, quality, _ in piece.chords:
            start, end = max(start, last), min(end, longest)
            if end <= start:
                continue
            if start > last + 1e-6:
                # Before the first chord: drums alone, or an upbeat of the melody, which is not scored.
                is_drums = not any(note[0] < start - 1e-6 for program, notes in piece.tracks if program is not None for note in notes)
                lines.append(f"{last * 60 / tempo:.6f} {start * 60 / tempo:.6f} {'N' if is_drums and last == 0 else 'X'}")
            label = "X" if quality == "X" else f"{NAMES[(root + transposition) % 12]}:{quality}"
            lines.append(f"{start * 60 / tempo:.6f} {end * 60 / tempo:.6f} {label}")
            last = end
        (folder / f"{name}.lab").write_text("\n".join(lines) + "\n")
    if piece.tonic is not None:
        (folder / f"{name}.key").write_text(f"{NAMES[(piece.tonic + transposition) % 12]} {piece.mode}\n")
    return True


def half_of(name):
    """0 or 1."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2


def sources(sheets, scores):
    """(kind, name, function that reads the piece) of all pieces, in an order that does not depend on the folders."""
    def digest(path):
        return hashlib.sha256(path.name.encode()).hexdigest()

    for folder in [*sheets, *scores]:
        if not any(folder.glob("*.mxl")):
            raise SystemExit(f"tonal_pieces: {folder}: no .mxl files")
    for kind, folders, read in (("sheet", sheets, read_sheet), ("score", scores, read_score)):
        for path in sorted((path for folder in folders for path in folder.glob("*.mxl")), key=digest):
            yield kind, f"{kind}-{digest(path)[:10]}", lambda rng, path=path, read=read: read(path, rng)
    for index in range(1000):
        yield "cadences", f"cadences-{index:04d}", make_cadences


def make_all(folder, sheets=(), scores=(), count=50, half=1, needs_key=False, jobs=2):
    """Makes at most `count` pieces of each kind in a half, and returns their names. Pieces that exist are not rendered again.

    With `needs_key`, only pieces whose key is certain.
    """
    (folder / "audio").mkdir(parents=True, exist_ok=True)
    names = {}
    waiting = {}
    for kind, name, read in sources(sheets, scores):
        if half_of(name) == half:
            waiting.setdefault(kind, []).append((name, read))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for kind, pieces in waiting.items():
            made = names.setdefault(kind, [])
            # Some files give no piece: as many as are missing are tried, until there are enough.
            while pieces and len(made) < count:
                tried, pieces = pieces[: count - len(made)], pieces[count - len(made) :]
                results = pool.map(lambda piece: make(*piece, folder, needs_key), tried)
                made += [name for (name, _), exists in zip(tried, results) if exists]
    for kind, made in names.items():
        if not made:
            raise SystemExit(f"tonal_pieces: no piece of the kind {kind} can be used")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sheets", type=pathlib.Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--scores", type=pathlib.Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--half", type=int, choices=(0, 1), default=1)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    names = make_all(
        arguments.folder, arguments.sheets, arguments.scores, arguments.count, arguments.half, jobs=arguments.jobs)
    for kind, made in names.items():
        print(f"{kind}: {len(made)}")


if __name__ == "__main__":
    main()
