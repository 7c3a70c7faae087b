// State of the connection, the device and the signal, as one line of text.

const NO_DATA_MS = 1500;

/**
 * The state to show, from the observed facts:
 * connected, closed, wasConnected: of the connection; ended: the stream has ended; device: {state, name} or null;
 * samplesAgeMs: time since the last samples, or null before the first; silent: no sound for a while; source: name of the source.
 * Returns {kind, text, detail}; kind is live, silent, waiting, outage or closed.
 */
export function describeState({ connected, closed, wasConnected, ended, device, samplesAgeMs, silent, source }) {
    if (closed) return { kind: "closed", text: "Closed", detail: "The connection to Hemiola is closed." };
    if (!connected && ended) return { kind: "outage", text: "The music has ended", detail: "Waiting for Hemiola to start again." };
    if (!connected && wasConnected) return { kind: "outage", text: "Connection lost", detail: "Connecting again automatically." };
    if (!connected) return { kind: "waiting", text: "Connecting", detail: "Waiting for Hemiola." };
    if (device?.state === "lost") {
        return { kind: "outage", text: "Device lost", detail: `${device.description || device.name} is not available. Waiting for it.` };
    }
    if (ended) return { kind: "waiting", text: "The music has ended", detail: "" };
    if (samplesAgeMs === null) return { kind: "waiting", text: "Waiting for audio", detail: "" };
    if (samplesAgeMs > NO_DATA_MS) return { kind: "outage", text: "No audio data", detail: "Hemiola sends no samples." };
    if (silent) return { kind: "silent", text: "No signal", detail: `${source || "The source"} is silent.` };
    return { kind: "live", text: "Live", detail: "Audio is received." };
}

/** Seconds as m:ss. */
export function formatDuration(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
