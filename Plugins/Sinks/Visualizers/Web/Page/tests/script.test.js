import { deepEqual, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { near, seededRandom } from "./check.js";

// The parts without a browser's functions.
const parts = ["encoding", "clocks"].map((name) => readFileSync(new URL(`../script/${name}.js`, import.meta.url)));
const { ClockOffset, StreamClock, decodeSamples, encodeBase64, keyEvents, presetNames, shorten } = new Function(
    `${parts.join("")}return { ClockOffset, StreamClock, decodeSamples, encodeBase64, keyEvents, presetNames, shorten };`)();

function message({ kind = 1, sequence = 7, frame = 2 ** 40, hostTime = 1234.5, bytes = 8216 } = {}) {
    const view = new DataView(new ArrayBuffer(bytes));
    view.setUint32(0, kind, true);
    view.setUint32(4, sequence, true);
    view.setFloat64(8, frame, true);
    view.setFloat64(16, hostTime, true);
    for (let i = 24; i + 4 <= bytes; i += 4) view.setFloat32(i, (i - 24) / 8192, true);
    return view.buffer;
}

/** Messages of a stream whose clock is `ppm` fast, with random delays of up to `jitter` ms. */
function run(clock, random, { seconds, start = 0, offset, ppm = 0, jitter = 10 }) {
    for (let message = 1; message <= seconds * 43; message++) {
        const streamTime = start + (message * 1024000) / 44100;
        clock.add(streamTime, offset + streamTime * (1 - ppm / 1e6) + jitter * random() ** 2);
    }
}

test("binary message: sequence, frame, host time and 2048 samples", () => {
    const { sequence, frame, hostTime, samples } = decodeSamples(message());
    deepEqual([sequence, frame, hostTime, samples.length, samples[1]], [7, 2 ** 40, 1234.5, 2048, 4 / 8192]);
});

test("binary message of another kind: ignored", () => deepEqual(decodeSamples(message({ kind: 2 })), null));
test("binary message of another length: ignored", () => deepEqual(decodeSamples(message({ bytes: 8212 })), null));

test("clock offset: the exchange with the shortest round trip", () => {
    const clock = new ClockOffset();
    const random = seededRandom(2);
    for (let i = 0; i < 10; i++) {
        const out = i === 6 ? 0.2 : 1 + 30 * random();
        const back = i === 6 ? 0.3 : 1 + 30 * random();
        clock.add(1000 * i, 1000 * i + out + 5_000_000, 1000 * i + out + back);
    }
    near(clock.value, 5_000_000, 0.1);
});

test("clock offset: old exchanges are forgotten", () => {
    const clock = new ClockOffset(4);
    clock.add(0, 100, 0.1);
    for (let i = 1; i < 5; i++) clock.add(i * 1000, i * 1000 + 250.5, i * 1000 + 1);
    near(clock.value, 250, 0.01);
});

test("stream clock: the minimum of late batches", () => {
    const clock = new StreamClock();
    run(clock, seededRandom(1), { seconds: 10, offset: 777 });
    near(clock.value, 777, 1);
});

test("stream clock: follows a drift of 100 ppm within 2 ms", () => {
    const clock = new StreamClock();
    run(clock, seededRandom(1), { seconds: 600, offset: 0, ppm: 100 });
    near(clock.value, -60, 2);
});

test("stream clock: an interruption of the stream restarts the window", () => {
    const clock = new StreamClock();
    const random = seededRandom(1);
    run(clock, random, { seconds: 10, offset: 0 });
    run(clock, random, { seconds: 2, start: 10000, offset: 3000 });
    near(clock.value, 3000, 2);
});

test("stream clock: a single late batch changes nothing", () => {
    const clock = new StreamClock();
    run(clock, seededRandom(1), { seconds: 10, offset: 50 });
    const before = clock.value;
    clock.add(10000, 11000);
    deepEqual(clock.value, before);
});

test("base64 of bytes: as the platform encodes them", () => {
    const random = seededRandom(8);
    for (const length of [0, 1, 2, 24_576, 100_000]) {
        const bytes = Uint8Array.from({ length }, () => 256 * random());
        ok(encodeBase64(bytes) === Buffer.from(bytes).toString("base64"), `${length} bytes`);
    }
});

test("preset names: from arrays, objects, JSON text, and nothing", () => {
    deepEqual(presetNames(["A", "B"]), ["A", "B"]);
    deepEqual(presetNames([{ name: "A" }, 3, null, ""]), ["A"]);
    deepEqual(presetNames({ A: {}, B: {} }), ["A", "B"]);
    deepEqual(presetNames('["A"]'), ["A"]);
    deepEqual([presetNames(undefined), presetNames("{"), presetNames(5)], [[], [], []]);
});

test("key messages: an object with an event, and a key alone", () => {
    deepEqual(keyEvents({ key: "a", event: "keyup" }), [{ key: "a", event: "keyup" }]);
    deepEqual(keyEvents({ key: "a", type: "keydown" }), [{ key: "a", event: "keydown" }]);
    deepEqual(keyEvents("a"), [{ key: "a", event: "keydown" }, { key: "a", event: "keyup" }]);
    deepEqual([keyEvents(null), keyEvents({}), keyEvents(5)], [[], [], []]);
});

test("long text: shortened to whole characters", () => {
    deepEqual(shorten("äöü", 4), "äö");
    deepEqual(shorten("ab😀", 5), "ab");
    deepEqual(shorten("short"), "short");
});
