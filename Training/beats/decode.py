"""Bar-pointer hidden Markov model (Krebs, Böck and Widmer, ISMIR 2015), and the probability that there are beats at all.

A state is a beat interval in frames and a position inside it; the position advances by one frame at each step, the interval changes
at beats only. The settings are those of madmom; nothing is tuned.
"""
import numpy as np
from scipy.ndimage import maximum_filter1d

from .features import FRAME_SECONDS

SLOWEST, FASTEST = 55.0, 215.0
# The probability of a new interval falls with exp(−LAMBDA · |ratio − 1|).
LAMBDA = 100.0
# The share of an interval that counts as the beat is 1 / OBSERVATION.
OBSERVATION = 16
# Activations are limited: no frame is certain.
LEAST = 1e-3
# Whether there are beats at all: a chain of two states, fed by the maximum of the network's beat probability over PRESENCE_SECONDS.
# A frame multiplies the odds of beats by (maximum / PRESENCE) ^ PRESENCE_WEIGHT.
PRESENCE_SECONDS = 2.0
PRESENCE = 0.2
PRESENCE_WEIGHT = 0.04
# Probability of a change between beats and no beats, per frame.
PRESENCE_CHANGE = 1e-3


def presence(network_beat, is_causal=True, frame_seconds=FRAME_SECONDS):
    """The posterior probability of beats at each frame; `network_beat` is the network's beat probability without the onset share.
    The whole-file variant uses the maximum around each frame, and the frames after it."""
    size = int(PRESENCE_SECONDS / frame_seconds)
    largest = maximum_filter1d(np.clip(network_beat, LEAST, 1), size, origin=(size - 1) // 2 if is_causal else 0, mode="nearest")
    odds = (largest / PRESENCE) ** PRESENCE_WEIGHT

    def filtered(odds):
        result, state = np.empty(len(odds)), 0.5
        for frame, value in enumerate(odds):
            prior = state + PRESENCE_CHANGE * (1 - 2 * state)
            state = prior * value / (prior * value + 1 - prior)
            result[frame] = state
        return result

    forward = filtered(odds)
    if is_causal:
        return forward
    # The frames after each frame, without the frame itself.
    backward = np.concatenate([filtered(odds[::-1])[::-1][1:], [0.5]])
    backward += PRESENCE_CHANGE * (1 - 2 * backward)
    return forward * backward / (forward * backward + (1 - forward) * (1 - backward))


class BeatHMM:
    def __init__(self, slowest=SLOWEST, fastest=FASTEST, frame_seconds=FRAME_SECONDS):
        self.intervals = np.arange(int(np.ceil(60 / fastest / frame_seconds)), int(60 / slowest / frame_seconds) + 1)
        self.first = np.concatenate([[0], np.cumsum(self.intervals)[:-1]])
        self.last = self.first + self.intervals - 1
        self.count = int(self.intervals.sum())
        self.interval_of = np.repeat(self.intervals, self.intervals)
        self.position_of = np.arange(self.count) - np.repeat(self.first, self.intervals)
        self.is_beat = self.position_of * OBSERVATION < self.interval_of
        ratio = self.intervals[None, :] / self.intervals[:, None]
        changes = np.exp(-LAMBDA * abs(ratio - 1))
        changes[changes < 1e-12] = 0
        self.changes = changes / changes.sum(axis=1, keepdims=True)
        self.frame_seconds = frame_seconds

    @staticmethod
    def observations(activation):
        """The probabilities of each frame in a beat state and in another state: b and (1 − b) / 15."""
        b = np.clip(np.asarray(activation, np.float64), LEAST, 1 - LEAST)
        return b, (1 - b) / (OBSERVATION - 1)

    def forward(self, activation, presence=None):
        """Causal decoding: beat times in seconds. A beat is emitted when the most probable state enters a beat, at least .6 intervals
        after the beat before, while beats are more probable than none."""
        beat, other = self.observations(activation)
        state = np.full(self.count, 1 / self.count)
        beats, previous_position, last_beat = [], None, -np.inf
        for frame in range(len(beat)):
            moved = np.empty_like(state)
            moved[1:] = state[:-1]
            moved[self.first] = state[self.last] @ self.changes
            state = moved * np.where(self.is_beat, beat[frame], other[frame])
            state /= state.sum()
            best = int(state.argmax())
            interval, position = self.interval_of[best], self.position_of[best]
            if previous_position is not None and position < previous_position and position < 0.5 * interval:
                if frame - position - last_beat > 0.6 * interval and (presence is None or presence[frame] > 0.5):
                    beats.append((frame - position) * self.frame_seconds)
                    last_beat = frame - position
            previous_position = position
        return np.array(beats)

    def viterbi(self, activation, presence=None):
        """Whole-file decoding: the beat times of the most probable path, each at the activation's maximum in its beat."""
        beat, other = (np.log(values) for values in self.observations(activation))
        frames, tempi = len(beat), len(self.first)
        with np.errstate(divide="ignore"):
            changes = np.log(self.changes)
        state = np.zeros(self.count)
        sources = np.empty((frames, tempi), np.int16)
        columns = np.arange(tempi)
        for frame in range(frames):
            scores = state[self.last][:, None] + changes
            sources[frame] = scores.argmax(axis=0)
            moved = np.empty_like(state)
            moved[1:] = state[:-1]
            moved[self.first] = scores[sources[frame], columns]
            state = moved + np.where(self.is_beat, beat[frame], other[frame])
        path = np.empty(frames, int)
        current = int(state.argmax())
        for frame in range(frames - 1, -1, -1):
            path[frame] = current
            if self.position_of[current] == 0:
                current = int(self.last[sources[frame][np.searchsorted(self.first, current)]])
            else:
                current -= 1
        inside = self.is_beat[path]
        edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(int), [0]])))
        peaks = [start + int(np.argmax(activation[start:end])) for start, end in zip(edges[::2], edges[1::2])]
        return np.array([peak * self.frame_seconds for peak in peaks if presence is None or presence[peak] > 0.5])


def bar_positions(beats, beat_activation, downbeat_activation, meters=(3, 4), frame_seconds=FRAME_SECONDS, change=1e-3):
    """Each beat's place in its bar, from 1: the most probable path through the places of bars of 3 and 4 beats."""
    if not len(beats):
        return np.zeros(0, int)
    frames = np.round(np.asarray(beats) / frame_seconds).astype(int)
    around = np.clip(frames[:, None] + np.arange(-2, 3), 0, len(downbeat_activation) - 1)
    downbeat = np.asarray(downbeat_activation)[around].max(axis=1)
    share = np.clip(downbeat / np.maximum(np.asarray(beat_activation)[around].max(axis=1), 1e-3), 0.02, 0.98)
    places = [(meter, place) for meter in meters for place in range(meter)]
    firsts = [index for index, (_, place) in enumerate(places) if place == 0]
    transitions = np.full((len(places), len(places)), -np.inf)
    for index, (meter, place) in enumerate(places):
        for other in firsts if place == meter - 1 else [index + 1]:
            is_same = place < meter - 1 or places[other][0] == meter
            transitions[index, other] = np.log(1 - change if is_same else change)
    is_first = np.array([place == 0 for _, place in places])
    observed = np.where(is_first, np.log(share)[:, None], np.log(1 - share)[:, None])
    score, pointers = observed[0].copy(), np.zeros((len(beats), len(places)), int)
    for index in range(1, len(beats)):
        candidates = score[:, None] + transitions
        pointers[index] = candidates.argmax(axis=0)
        score = candidates.max(axis=0) + observed[index]
    state, result = int(score.argmax()), np.zeros(len(beats), int)
    for index in range(len(beats) - 1, -1, -1):
        result[index] = places[state][1] + 1
        state = pointers[index][state]
    return result
