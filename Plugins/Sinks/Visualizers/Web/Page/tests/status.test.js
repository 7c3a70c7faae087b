import { describeState, formatDuration } from "../app/status.js";
import { equal, isTrue } from "./check.js";

const live = {
    connected: true, closed: false, wasConnected: false, ended: false, device: null, samplesAgeMs: 20, silent: false, source: "song.wav",
};
const state = (changes) => describeState({ ...live, ...changes });
const kindAndText = (changes) => [state(changes).kind, state(changes).text];

export const tests = [
    { name: "samples with sound: live", run: () => equal(kindAndText({}), ["live", "Live"]) },
    { name: "samples of silence: no signal", run: () => equal(kindAndText({ silent: true }), ["silent", "No signal"]) },
    { name: "no samples for 1.5 s: outage", run: () => equal(kindAndText({ samplesAgeMs: 1600 }), ["outage", "No audio data"]) },
    { name: "before the first sample: waiting", run: () => equal(state({ samplesAgeMs: null }).kind, "waiting") },
    { name: "before the first connection: connecting", run: () => equal(kindAndText({ connected: false }), ["waiting", "Connecting"]) },
    {
        name: "lost connection: outage",
        run: () => equal(kindAndText({ connected: false, wasConnected: true }), ["outage", "Connection lost"]),
    },
    {
        name: "lost device: outage with the device's name",
        run() {
            const lost = state({ device: { state: "lost", name: "alsa.1", description: "Line In" } });
            equal(lost.kind, "outage");
            isTrue(lost.detail.includes("Line In"), lost.detail);
        },
    },
    { name: "opened device: live", run: () => equal(state({ device: { state: "opened", name: "x" } }).kind, "live") },
    {
        name: "end of the music, then no connection: says that the music has ended",
        run: () => equal(state({ connected: false, wasConnected: true, ended: true }).text, "The music has ended"),
    },
    { name: "closed by the user: closed", run: () => equal(state({ connected: false, closed: true }).kind, "closed") },
    {
        name: "durations: minutes and seconds",
        run: () => equal([0, 59.9, 61, 3600].map(formatDuration), ["0:00", "0:59", "1:01", "60:00"]),
    },
];
