import { deepEqual } from "node:assert/strict";
import test from "node:test";

import { BeatClock } from "../analysis/beats.js";
import { near } from "./check.js";

const beat = (t, position = null, bpm = 120) => ({ t, position, bpm, confidence: 0.9 });
const target = () => ({ pulse: 0, phase: 0, bar: null, beatsPerBar: 4, bpm: null, confidence: 0 });

test("announced beat: drawn at its time, not before", () => {
    const clock = new BeatClock();
    clock.add(beat(1.5));
    deepEqual(clock.due(1.49), null);
    deepEqual(clock.due(1.501)?.t, 1.5);
    deepEqual(clock.due(1.502), null);
});

test("beats in any order: drawn in the order of their times", () => {
    const clock = new BeatClock();
    for (const t of [2, 1, 1.5]) clock.add(beat(t));
    deepEqual([1.01, 1.51, 2.01].map((time) => clock.due(time)?.t), [1, 1.5, 2]);
});

test("late beat: no flash, but the phase follows it", () => {
    const clock = new BeatClock();
    clock.add(beat(1));
    deepEqual(clock.due(1.3), null);
    near(clock.describe(1.25, target()).phase, 0.5, 0.001, "phase");
});

test("between two beats: phase from the announced one, pulse falls", () => {
    const clock = new BeatClock();
    clock.add(beat(1));
    clock.add(beat(1.8));
    clock.due(1);
    near(clock.describe(1, target()).pulse, 1, 0.001, "pulse");
    const later = clock.describe(1.4, target());
    near(later.phase, 0.5, 0.001, "phase");
    near(later.pulse, 0.057, 0.01, "pulse");
});

test("positions 1 to 3: three beats per bar", () => {
    const clock = new BeatClock();
    for (let i = 0; i < 8; i++) {
        clock.add(beat(i * 0.5, (i % 3) + 1));
        clock.due(i * 0.5);
    }
    deepEqual(clock.beatsPerBar, 3);
});

test("no beat for 5 s: no tempo", () => {
    const clock = new BeatClock();
    clock.add(beat(1));
    clock.due(1);
    deepEqual(clock.describe(2, target()).bpm, 120);
    clock.due(6.1);
    deepEqual(clock.describe(6.1, target()), target());
});

test("many announced beats: the number is limited", () => {
    const clock = new BeatClock();
    for (let i = 0; i < 1000; i++) clock.add(beat(i));
    deepEqual(clock.pending.length, 64);
});
