"""Rendered excerpts in memory, and batches for training."""
import json
from pathlib import Path

import numpy as np

from . import augment
from .features import FRAME_SECONDS, LAG, from_bytes, network_input
from .model import TEMPI

# Labels are this many frames later than the note-ons, except for clicks: people mark later than attacks begin.
LABEL_DELAY = 2
# The onset's label, in frames after the note-on.
ONSET_DELAY = 1
# The label of a drum, likewise. Softer strokes are neither drums nor none.
DRUM_DELAY = 1
LEAST_VELOCITY = 30
# How often an epoch has an excerpt of a style: real music is rare, and with less speech the live network finds beats in it.
REPEATS = {"taught": 3, "beatless": 4}
# Styles of which it is unknown where drums are.
WITHOUT_DRUM_LABELS = ("clicks", "taught")


class Excerpt:
    """One excerpt: `variants` are (bytes of the bands, seconds per frame)."""

    def __init__(self, path):
        with np.load(path) as arrays:
            self.about = json.loads(str(arrays["about"]))
            self.beats, self.positions, self.onsets = arrays["beats"], arrays["positions"], arrays["onsets"]
            self.drums = arrays["drums"] if "drums" in arrays.files else np.zeros((0, 3), np.float32)
            count = sum(name.startswith("bands") for name in arrays.files)
            self.variants = [(arrays[f"bands{index}"], float(arrays[f"hop{index}"])) for index in range(count)]
        self.path = Path(path)
        self.delay = LABEL_DELAY if self.about["delay"] else 0

    @property
    def style(self):
        return self.about["style"]

    @property
    def marked_beats(self):
        """The times of the beats as the network is trained to place them, in seconds, at the frame distance of variant 0."""
        return self.beats + self.delay * FRAME_SECONDS


def load(folder):
    """All excerpts of a folder, in the order of their names. Damaged files are an error."""
    return [Excerpt(path) for path in sorted(Path(folder).glob("*.npz"))]


def split(excerpts, fold=None, left_out_font=None):
    """(training, validation). Validation: the pieces of a fold, all if there is none; of these, with a soundfont left out of training,
    only excerpts that use no other."""
    training = [excerpt for excerpt in excerpts if excerpt.about["fold"] != fold and left_out_font not in excerpt.about["fonts"]]
    validation = [excerpt for excerpt in excerpts if fold is None or excerpt.about["fold"] == fold]
    if left_out_font:
        validation = [excerpt for excerpt in validation if excerpt.about["fonts"] == [left_out_font]]
    return training, validation


def targets(count, frames):
    """1 at the nearest frame, .5 at its neighbours."""
    result = np.zeros(count, np.float32)
    nearest = np.round(frames).astype(int)
    for offset, value in ((-1, 0.5), (1, 0.5), (0, 1.0)):
        places = nearest + offset
        places = places[(places >= 0) & (places < count)]
        result[places] = np.maximum(result[places], value)
    return result


def tempo_weights(beats):
    """The weights of `TEMPI` for beats in frames: a bell of a tenth of an octave around the tempo; zeros if fewer than four are given
    or they are unsteady."""
    intervals = np.diff(beats)
    if len(intervals) < 3 or intervals.std() > 0.1 * intervals.mean():
        return np.zeros(len(TEMPI), np.float32)
    tempo = 60 / (np.median(intervals) * FRAME_SECONDS)
    weights = np.exp(-0.5 * np.square(np.log2(TEMPI / tempo) / 0.1))
    return (weights / weights.sum()).astype(np.float32)


def place_targets(count, beats, positions):
    """The class of the bar head at the frames of beats and beside them, −1 elsewhere and where the bar is unknown."""
    result = np.full(count, -1, np.int64)
    meter = positions.max(initial=0)
    if meter in (3, 4):
        known = positions > 0
        for offset in (-1, 1, 0):
            frames = np.round(beats[known]).astype(int) + offset
            inside = (frames >= 0) & (frames < count)
            result[frames[inside]] = positions[known][inside] - 1 + (3 if meter == 4 else 0)
    return result


def drum_targets(count, drums, place):
    """Targets and mask (3, frames) of kick, snare and hi-hat; `place` maps seconds to frames. Samples of clicks may be drums too."""
    y, mask = np.zeros((2, 3, count), np.float32)
    mask += 1
    for voice in range(3):
        rows = drums[drums[:, 1] == voice]
        frames = place(rows[:, 0]) + DRUM_DELAY
        is_loud = rows[:, 2] >= LEAST_VELOCITY
        soft = np.round(frames[~is_loud]).astype(int)[:, None] + np.arange(-2, 3)
        mask[voice, soft[(soft >= 0) & (soft < count)]] = 0
        y[voice] = targets(count, frames[is_loud])
    mask[y > 0] = 1
    return y, mask


def make_example(rng, excerpt, frames, speech, augmented=True, drums=False):
    """A random crop of an excerpt: (bands' input, onset activation, targets (3, frames), mask (3, frames), weights of the tempi,
    places in the bar (frames)). The targets are onset, beat and downbeat, or kick, snare and hi-hat."""
    bands, hop = excerpt.variants[rng.integers(len(excerpt.variants))]
    rate = float(np.exp(rng.uniform(-0.08, 0.08))) if augmented and rng.random() < 0.4 else 1.0
    needed = int(frames * rate) + 2
    first = 0 if rng.random() < 0.35 else int(rng.integers(0, max(1, len(bands) - needed)))
    part = from_bytes(bands[first:first + needed])
    if rate != 1.0:
        at = np.arange(frames) * rate
        low = np.minimum(at.astype(int), len(part) - 1)
        share = (at - low).astype(np.float32)[:, None]
        part = part[low] * (1 - share) + part[np.minimum(low + 1, len(part) - 1)] * share
    length = min(frames, len(part))
    part = np.pad(part[:frames], ((0, frames - length), (0, 0)))
    if augmented:
        voice = from_bytes(speech[rng.integers(len(speech))]) if speech and rng.random() < 0.15 else None
        part = augment.random_chain(rng, part, voice)
    x, onsets = network_input(part)
    beats = (excerpt.beats / hop - first) / rate + excerpt.delay
    y = np.stack([targets(frames, (excerpt.onsets / hop - first) / rate + ONSET_DELAY), targets(frames, beats),
                  targets(frames, beats[excerpt.positions == 1])])
    mask = np.ones((3, frames), np.float32)
    mask[0] = excerpt.about["has_onsets"]
    if len(beats):
        # Bars are unknown at some beats; nothing is known before the first and after the last beat but their absence near them.
        unknown = np.interp(np.arange(frames), beats, (excerpt.positions == 0).astype(float)) > 0
        mask[2] = ~unknown
    if drums:
        y, mask = drum_targets(frames, excerpt.drums, lambda seconds: (seconds / hop - first) / rate)
        mask *= excerpt.style not in WITHOUT_DRUM_LABELS
    mask[:, length - LAG if length < frames else frames:] = 0
    places = place_targets(frames, beats, excerpt.positions)
    places[length:] = -1
    return x, onsets, y, mask, tempo_weights(beats[(beats >= 0) & (beats < length)]), places


def batches(rng, excerpts, size, frames, augmented=True, drums=False):
    """One epoch of batches, in random order. The last, smaller batch is left out."""
    speech = [excerpt.variants[0][0] for excerpt in excerpts if excerpt.about["piece"].startswith("speech/")]
    excerpts = [excerpt for excerpt in excerpts for _ in range(REPEATS.get(excerpt.style, 1))]
    order = rng.permutation(len(excerpts))
    for start in range(0, len(order) - size + 1, size):
        examples = [make_example(rng, excerpts[index], frames, speech, augmented, drums) for index in order[start:start + size]]
        yield tuple(np.stack(column) for column in zip(*examples))
