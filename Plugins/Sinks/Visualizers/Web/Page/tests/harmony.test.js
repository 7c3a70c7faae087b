import { deepEqual, ok } from "node:assert/strict";
import test from "node:test";

import { chordName, Harmony, keyName, noteName } from "../analysis/harmony.js";
import { near } from "./check.js";

const analyzer = (plugin, outputs = [], id = plugin) => ({ id, plugin, outputs });
const chroma = (count, id) => analyzer("chroma", [{ name: "bins", count }], id);
const stream = (...analyzers) => {
    const harmony = new Harmony();
    harmony.reset({ analyzers });
    return harmony;
};
/** Long enough for the chroma to reach its value. */
const settle = (harmony, time) => {
    for (let i = 0; i < 60; i++) harmony.update(time, 0.1, false);
    return [...harmony.chroma];
};

test("header without these analyzers: no key, chord or note",
    () => deepEqual(["musical-key", "chords", "pitch"].map((plugin) => stream(analyzer("levels")).has(plugin)), [false, false, false]));
test("12, 24 and 36 bins: as declared; other numbers are no chroma",
    () => deepEqual([12, 24, 36, 7].map((count) => stream(chroma(count)).chroma.length), [12, 24, 36, 0]));

test("batch: shown when it is due, not before", () => {
    const harmony = stream(chroma(12), analyzer("musical-key", [], "musical_key"), analyzer("chords"), analyzer("pitch"));
    const bins = Array.from({ length: 12 }, (_, index) => (index === 9 ? 1 : 0.25));
    harmony.add({
        t: 1, chroma: { bins }, musical_key: { tonic_number: 9, mode_number: 1 },
        chords: { root_number: 9, quality_number: 1 }, pitch: { f0_hz: 441 },
    });
    harmony.update(0.9, 0.1, false);
    deepEqual([harmony.key, harmony.chord, harmony.frequency], [null, null, null]);
    near(settle(harmony, 1)[9], 1, 0.001, "A");
    deepEqual([harmony.key, harmony.chord, harmony.frequency, harmony.tonic], ["A minor", "Am", 441, 9]);
});

test("null values: no key, no chord, no note, empty ring", () => {
    const harmony = stream(chroma(12), analyzer("musical-key", [], "musical_key"), analyzer("chords"), analyzer("pitch"));
    harmony.add({
        t: 0, chroma: { bins: Array(12).fill(null) }, musical_key: { tonic_number: null, mode_number: null },
        chords: { root_number: null, quality_number: null }, pitch: { f0_hz: null },
    });
    deepEqual(settle(harmony, 1), Array(12).fill(0));
    deepEqual([harmony.key, harmony.chord, harmony.frequency, harmony.tonic], [null, null, null, null]);
});

test("analyzer with another name: read under that name", () => {
    const harmony = stream(chroma(12, "tones"));
    harmony.add({ t: 0, tones: { bins: Array(12).fill(1) } });
    near(settle(harmony, 0)[0], 1, 0.001, "C");
});

test("batches without the features, and of a page that does not draw: no error, and their number is limited", () => {
    const harmony = stream(chroma(24));
    for (let i = 0; i < 1000; i++) harmony.add({ t: i });
    deepEqual(harmony.pending.length, 128);
    deepEqual(settle(harmony, 1e9), Array(24).fill(0));
});

test("reduced motion: the ring moves slowly", () => {
    const [fast, slow] = [false, true].map((isSlow) => {
        const harmony = stream(chroma(12));
        harmony.add({ t: 0, chroma: { bins: Array(12).fill(1) } });
        harmony.update(0, 0.05, isSlow);
        return harmony.chroma[0];
    });
    ok(slow < fast / 5 && slow > 0, `${slow} ${fast}`);
});

test("names of keys, chords and notes", () => {
    deepEqual([keyName({ tonic_number: 3, mode_number: 0 }), keyName({ tonic_number: 8, mode_number: 1 }), keyName({ tonic_number: 12, mode_number: 0 }), keyName()],
        ["E♭ major", "G♯ minor", null, null]);
    deepEqual([chordName({ root_number: 0, quality_number: 0 }), chordName({ root_number: 7, quality_number: 2 }), chordName({ root_number: null, quality_number: null })],
        ["C", "G7", null]);
    deepEqual([440, 261.6, 27.5, 445, 0, null].map(noteName), ["A4", "C4", "A0", "A4", null, null]);
});
