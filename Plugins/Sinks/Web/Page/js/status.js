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
    if (!connected && ended) return { kind: "outage", text: "Ended", detail: "The music has ended. Waiting for Hemiola to start again." };
    if (!connected && wasConnected) return { kind: "outage", text: "Connection lost", detail: "Connection lost. Reconnecting." };
    if (!connected) return { kind: "waiting", text: "Connecting", detail: "Connecting to Hemiola." };
    if (device?.state === "lost") {
        return { kind: "outage", text: "Device lost", detail: `Audio device lost: ${device.description || device.name}. Waiting for it.` };
    }
    if (ended) return { kind: "waiting", text: "Ended", detail: "The music has ended." };
    if (samplesAgeMs === null) return { kind: "waiting", text: "Waiting", detail: "Waiting for audio." };
    if (samplesAgeMs > NO_DATA_MS) return { kind: "outage", text: "No audio data", detail: "Hemiola sends no audio data." };
    if (silent) return { kind: "silent", text: "No signal", detail: `No signal: ${source || "the source"} is silent.` };
    return { kind: "live", text: "Live", detail: "Audio is received." };
}

/** Seconds as m:ss. */
export function formatDuration(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
