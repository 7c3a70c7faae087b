import { chordName, Harmony, keyName, noteName } from "../analysis/harmony.js";
import { equal, isTrue, near } from "./check.js";

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

export const tests = [
    { name: "header without these analyzers: nothing to show", run: () => equal(stream(analyzer("levels")).isDeclared, false) },
    {
        name: "12, 24 and 36 bins: as declared; other numbers are no chroma",
        run: () => equal([12, 24, 36, 7].map((count) => stream(chroma(count)).chroma.length), [12, 24, 36, 0]),
    },
    {
        name: "batch: shown when it is due, not before",
        run() {
            const harmony = stream(chroma(12), analyzer("musical-key"), analyzer("chords"), analyzer("pitch"));
            const bins = Array.from({ length: 12 }, (_, index) => (index === 9 ? 1 : 0.25));
            harmony.add({
                t: 1, chroma: { bins }, "musical-key": { tonic: 9, mode: 1 }, chords: { root: 9, quality: 1 }, pitch: { f0_hz: 441 },
            });
            harmony.update(0.9, 0.1, false);
            equal([harmony.key, harmony.chord, harmony.frequency], [null, null, null]);
            near(settle(harmony, 1)[9], 1, 0.001, "A");
            equal([harmony.key, harmony.chord, harmony.frequency, harmony.tonic], ["A minor", "Am", 441, 9]);
        },
    },
    {
        name: "null values: no key, no chord, no note, empty ring",
        run() {
            const harmony = stream(chroma(12), analyzer("musical-key"), analyzer("chords"), analyzer("pitch"));
            harmony.add({
                t: 0, chroma: { bins: Array(12).fill(null) }, "musical-key": { tonic: null, mode: null },
                chords: { root: null, quality: null }, pitch: { f0_hz: null },
            });
            equal(settle(harmony, 1), Array(12).fill(0));
            equal([harmony.key, harmony.chord, harmony.frequency, harmony.tonic], [null, null, null, null]);
        },
    },
    {
        name: "analyzer with another name: read under that name",
        run() {
            const harmony = stream(chroma(12, "tones"));
            harmony.add({ t: 0, tones: { bins: Array(12).fill(1) } });
            near(settle(harmony, 0)[0], 1, 0.001, "C");
        },
    },
    {
        name: "batches without the features, and of a page that does not draw: no error, and their number is limited",
        run() {
            const harmony = stream(chroma(24));
            for (let i = 0; i < 1000; i++) harmony.add({ t: i });
            equal(harmony.pending.length, 128);
            equal(settle(harmony, 1e9), Array(24).fill(0));
        },
    },
    {
        name: "reduced motion: the ring moves slowly",
        run() {
            const [fast, slow] = [false, true].map((isSlow) => {
                const harmony = stream(chroma(12));
                harmony.add({ t: 0, chroma: { bins: Array(12).fill(1) } });
                harmony.update(0, 0.05, isSlow);
                return harmony.chroma[0];
            });
            isTrue(slow < fast / 5 && slow > 0, `${slow} ${fast}`);
        },
    },
    {
        name: "names of keys, chords and notes",
        run() {
            equal([keyName({ tonic: 3, mode: 0 }), keyName({ tonic: 8, mode: 1 }), keyName({ tonic: 12, mode: 0 }), keyName()],
                ["E♭ major", "G♯ minor", null, null]);
            equal([chordName({ root: 0, quality: 0 }), chordName({ root: 7, quality: 2 }), chordName({ root: null, quality: null })],
                ["C", "G7", null]);
            equal([440, 261.6, 27.5, 445, 0, null].map(noteName), ["A4", "C4", "A0", "A4", null, null]);
        },
    },
];
