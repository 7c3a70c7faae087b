import { deepEqual, ok } from "node:assert/strict";
import test from "node:test";

import { describeState, formatDuration } from "../app/status.js";

const live = {
    connected: true, closed: false, wasConnected: false, ended: false, device: null, samplesAgeMs: 20, silent: false, source: "song.wav",
};
const state = (changes) => describeState({ ...live, ...changes });
const kindAndText = (changes) => [state(changes).kind, state(changes).text];

test("samples with sound: live", () => deepEqual(kindAndText({}), ["live", "Live"]));
test("samples of silence: no signal", () => deepEqual(kindAndText({ silent: true }), ["silent", "No signal"]));
test("no samples for 1.5 s: outage", () => deepEqual(kindAndText({ samplesAgeMs: 1600 }), ["outage", "No audio data"]));
test("before the first sample: waiting", () => deepEqual(state({ samplesAgeMs: null }).kind, "waiting"));
test("before the first connection: connecting", () => deepEqual(kindAndText({ connected: false }), ["waiting", "Connecting"]));
test("lost connection: outage", () => deepEqual(kindAndText({ connected: false, wasConnected: true }), ["outage", "Connection lost"]));

test("lost device: outage with the device's name", () => {
    const lost = state({ device: { state: "lost", name: "alsa.1", description: "Line In" } });
    deepEqual(lost.kind, "outage");
    ok(lost.detail.includes("Line In"), lost.detail);
});

test("opened device: live", () => deepEqual(state({ device: { state: "opened", name: "x" } }).kind, "live"));
test("end of the music, then no connection: says that the music has ended",
    () => deepEqual(state({ connected: false, wasConnected: true, ended: true }).text, "The music has ended"));
test("closed by the user: closed", () => deepEqual(state({ connected: false, closed: true }).kind, "closed"));
test("durations: minutes and seconds", () => deepEqual([0, 59.9, 61, 3600].map(formatDuration), ["0:00", "0:59", "1:01", "60:00"]));
