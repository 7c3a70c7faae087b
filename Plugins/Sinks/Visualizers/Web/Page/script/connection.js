// The WebSocket: opens it again when it is lost, sends messages, and passes on what arrives.

const FRAMES_PER_MESSAGE = SAMPLES_PER_MESSAGE / 2;
const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 5000;
const CLOCK_INTERVAL_MS = 5000;
// After so many intervals without any message the connection is closed and opened again.
const SILENT_INTERVALS = 3;

const script = /** @type {HTMLScriptElement | null} */ (document.currentScript ?? document.querySelector('script[src*="hemiola.js"]'));
const scriptAddress = new URL(script?.src || "/hemiola.js", location.href);

function socketAddress() {
    const address = new URL("hemiola/socket", scriptAddress);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.search = "";
    address.hash = "";
    return address.href;
}

/** The token from the script's address, or from the page's address if both have the same origin; else null: the cookie has it. */
function accessToken() {
    const own = scriptAddress.origin === location.origin ? new URL(location.href).searchParams.get("token") : null;
    const token = scriptAddress.searchParams.get("token") ?? own;
    return token && /^[\w.~-]+$/.test(token) ? token : null;
}

function socketProtocols() {
    const token = accessToken();
    return token ? ["hemiola.v1", `hemiola.token.${token}`] : ["hemiola.v1"];
}

const subscription = { payload: "binary" };
const requests = new Map();
let nextId = 1;
let socket = null;
let retryDelay = RETRY_MIN_MS;
let retryTimer = 0;
let lastMessageTime = 0;
let hasReceived = false;
let attempt = 0;

function transmit(message) {
    if (socket?.readyState !== WebSocket.OPEN) return false;
    const text = JSON.stringify(message);
    if (text.length > MAX_MESSAGE_BYTES / 4 && new TextEncoder().encode(text).length > MAX_MESSAGE_BYTES) return false;
    socket.send(text);
    return true;
}

function openSocket() {
    clearTimeout(retryTimer);
    if (hemiola.closed || socket) return;
    attempt += 1;
    try {
        socket = new WebSocket(socketAddress(), socketProtocols());
    } catch (error) {
        console.error("hemiola:", error);
        return retry();
    }
    socket.binaryType = "arraybuffer";
    socket.onopen = opened;
    socket.onmessage = (event) => received(event.data);
    socket.onclose = disconnected;
}

function opened() {
    hemiola.connected = true;
    attempt = 0;
    hasReceived = true;
    hasGreeted = false;
    clockOffset.measurements.length = 0;
    transmit({ type: "subscribe", ...subscription });
    for (let i = 0; i < 4; i++) setTimeout(measureClock, 60 * i);
    emit("connection", { connected: true, closed: false, attempt: 0 });
    for (const error of waitingErrors.splice(0)) transmit(error);
    visualizer.start();
}

function disconnected() {
    socket = null;
    hemiola.connected = false;
    if (currentCall) cancelledCalls.add(currentCall);
    currentCall = null;
    visualizer.stop();
    for (const request of requests.values()) request.reject(new Error("the connection to Hemiola was closed"));
    requests.clear();
    emit("connection", { connected: false, closed: hemiola.closed, attempt, retry_ms: hemiola.closed ? null : retryDelay });
    retry();
}

function retry() {
    if (hemiola.closed) return;
    retryTimer = setTimeout(openSocket, retryDelay);
    retryDelay = Math.min(RETRY_MAX_MS, retryDelay * 2);
}

// Counts intervals without any message, not the time: a page that was blocked receives its messages after the timer.
let silentIntervals = 0;
// Before `hello` nothing is sent: the capture waits for its source.
let hasGreeted = false;
setInterval(() => {
    if (!socket || !hemiola.connected) return;
    silentIntervals = hasReceived || !hasGreeted ? 0 : silentIntervals + 1;
    hasReceived = false;
    if (silentIntervals < SILENT_INTERVALS) return measureClock();
    // The closing handshake of a broken connection can take minutes.
    const broken = socket;
    broken.onclose = broken.onmessage = null;
    broken.close();
    disconnected();
}, CLOCK_INTERVAL_MS);

function received(data) {
    lastMessageTime = performance.now();
    hasReceived = true;
    if (typeof data !== "string") {
        const message = decodeSamples(data);
        if (message) receivedSamples(message);
        return;
    }
    let message;
    try {
        message = JSON.parse(data);
    } catch {
        return console.warn("hemiola: invalid message");
    }
    if (message.type === "pushSamples") return receivedSamples(samplesOfMessage(message));
    // Without samples, events tell the time of the stream: they are sent with the batch in which they were found.
    if (subscription.streams?.includes("pushSamples") === false && Number.isFinite(message.emitted_t)) {
        noteStreamTime(1000 * message.emitted_t, NaN);
    }
    receivers[message.type]?.(message);
    emit(message.type, message);
}

function samplesOfMessage(message) {
    return { sequence: null, frame: message.frame, hostTime: NaN, samples: Float32Array.from(message.samples) };
}

/** Notes the stream time of the message that has arrived, and the host's time at which it was encoded; NaN: unknown. */
function noteStreamTime(streamTime, hostTime) {
    const isKnown = Number.isFinite(hostTime);
    if (isKnown !== usesHostTime) {
        usesHostTime = isKnown;
        streamClock.reset();
    }
    if (Number.isFinite(streamTime)) streamClock.add(streamTime, isKnown ? hostTime : lastMessageTime);
}

function receivedSamples(message) {
    noteStreamTime((1000 * (message.frame + FRAMES_PER_MESSAGE)) / hemiola.sampleRate, message.hostTime);
    visualizer.pushSamples(message.samples);
    emit("samples", { samples: message.samples, frame: message.frame, sequence: message.sequence });
}

const receivers = {
    hello(message) {
        hemiola.hello = message;
        hasGreeted = true;
        retryDelay = RETRY_MIN_MS;
        streamClock.reset();
        visualizer.restore(message.visualizer);
    },
    clock(message) {
        clockOffset.add(message.sent, message.host_ms, performance.now());
    },
    reply(message) {
        const request = requests.get(message.id);
        if (request) {
            requests.delete(message.id);
            request.resolve(message);
        }
    },
    error(message) {
        console.warn("hemiola:", message.error);
    },
    resumeAudio: () => visualizer.resumeAudio(),
    setSpeed: (message) => visualizer.setSpeed(message.speed),
    loadPresetByName(message) {
        hemiola.blendSeconds = message.blend_s ?? 0;
        visualizer.loadPreset(message.name);
    },
    getPresetNames: () => visualizer.reportPresets("presetNames", "names"),
    call: (message) => call(message.call, message.function, message.arguments ?? []),
    import: (message) => call(message.call, "importFile", [message.name, message.base64], message.url),
    cancel: (message) => cancel(message.call),
};

window.addEventListener("online", () => !hemiola.connected && !hemiola.closed && hemiola.connect());
document.addEventListener("visibilitychange", () => {
    if (!document.hidden && !hemiola.connected && !hemiola.closed) hemiola.connect();
});
window.addEventListener("pagehide", () => socket?.close(1000));
