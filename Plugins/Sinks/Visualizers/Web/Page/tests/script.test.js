import { equal, isTrue, near, seededRandom } from "./check.js";

// In a page that Hemiola serves, the script has run. Elsewhere it runs here, without a server.
if (!globalThis.hemiola) {
    if (typeof window === "undefined") {
        const nothing = () => {};
        Object.assign(globalThis, {
            window: globalThis,
            document: { addEventListener: nothing, readyState: "loading", hidden: false },
            location: { href: "http://127.0.0.1:9/", origin: "http://127.0.0.1:9" },
            addEventListener: nothing,
            removeEventListener: nothing,
            setInterval: nothing,
            WebSocket: class {
                close() {}
            },
        });
    }
    await import("../script/hemiola.js");
    globalThis.hemiola.disconnect();
}
const { ClockOffset, StreamClock, decodeSamples, encodeBase64, keyEvents, presetNames, shorten } = globalThis.hemiola.constructor;

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

export const tests = [
    {
        name: "binary message: sequence, frame, host time and 2048 samples",
        run() {
            const { sequence, frame, hostTime, samples } = decodeSamples(message());
            equal([sequence, frame, hostTime, samples.length, samples[1]], [7, 2 ** 40, 1234.5, 2048, 4 / 8192]);
        },
    },
    { name: "binary message of another kind: ignored", run: () => equal(decodeSamples(message({ kind: 2 })), null) },
    { name: "binary message of another length: ignored", run: () => equal(decodeSamples(message({ bytes: 8212 })), null) },
    {
        name: "clock offset: the exchange with the shortest round trip",
        run() {
            const clock = new ClockOffset();
            const random = seededRandom(2);
            for (let i = 0; i < 10; i++) {
                const out = i === 6 ? 0.2 : 1 + 30 * random();
                const back = i === 6 ? 0.3 : 1 + 30 * random();
                clock.add(1000 * i, 1000 * i + out + 5_000_000, 1000 * i + out + back);
            }
            near(clock.value, 5_000_000, 0.1);
        },
    },
    {
        name: "clock offset: old exchanges are forgotten",
        run() {
            const clock = new ClockOffset(4);
            clock.add(0, 100, 0.1);
            for (let i = 1; i < 5; i++) clock.add(i * 1000, i * 1000 + 250.5, i * 1000 + 1);
            near(clock.value, 250, 0.01);
        },
    },
    {
        name: "stream clock: the minimum of late batches",
        run() {
            const clock = new StreamClock();
            run(clock, seededRandom(1), { seconds: 10, offset: 777 });
            near(clock.value, 777, 1);
        },
    },
    {
        name: "stream clock: follows a drift of 100 ppm within 2 ms",
        run() {
            const clock = new StreamClock();
            run(clock, seededRandom(1), { seconds: 600, offset: 0, ppm: 100 });
            near(clock.value, -60, 2);
        },
    },
    {
        name: "stream clock: an interruption of the stream restarts the window",
        run() {
            const clock = new StreamClock();
            const random = seededRandom(1);
            run(clock, random, { seconds: 10, offset: 0 });
            run(clock, random, { seconds: 2, start: 10000, offset: 3000 });
            near(clock.value, 3000, 2);
        },
    },
    {
        name: "stream clock: a single late batch changes nothing",
        run() {
            const clock = new StreamClock();
            run(clock, seededRandom(1), { seconds: 10, offset: 50 });
            const before = clock.value;
            clock.add(10000, 11000);
            equal(clock.value, before);
        },
    },
    {
        name: "base64 of chunks of any length: base64 of the whole",
        run() {
            const random = seededRandom(8);
            const bytes = Uint8Array.from({ length: 100_000 }, () => 256 * random());
            const chunks = [bytes.slice(0, 1), bytes.slice(1, 65_537), bytes.slice(65_537, 65_537), bytes.slice(65_537)];
            const decoded = Uint8Array.from(atob(encodeBase64(chunks)), (character) => character.charCodeAt(0));
            isTrue(decoded.length === bytes.length && decoded.every((byte, i) => byte === bytes[i]), "bytes differ");
            equal(encodeBase64([]), "");
        },
    },
    {
        name: "preset names: from arrays, objects, JSON text, and nothing",
        run() {
            equal(presetNames(["A", "B"]), ["A", "B"]);
            equal(presetNames([{ name: "A" }, 3, null, ""]), ["A"]);
            equal(presetNames({ A: {}, B: {} }), ["A", "B"]);
            equal(presetNames('["A"]'), ["A"]);
            equal([presetNames(undefined), presetNames("{"), presetNames(5)], [[], [], []]);
        },
    },
    {
        name: "key messages: an object with an event, and a key alone",
        run() {
            equal(keyEvents({ key: "a", event: "keyup" }), [{ key: "a", event: "keyup" }]);
            equal(keyEvents({ key: "a", type: "keydown" }), [{ key: "a", event: "keydown" }]);
            equal(keyEvents("a"), [{ key: "a", event: "keydown" }, { key: "a", event: "keyup" }]);
            equal([keyEvents(null), keyEvents({}), keyEvents(5)], [[], [], []]);
        },
    },
    {
        name: "long text: shortened to whole characters",
        run() {
            equal(shorten("äöü", 4), "äö");
            equal(shorten("ab😀", 5), "ab");
            equal(shorten("short"), "short");
        },
    },
];
