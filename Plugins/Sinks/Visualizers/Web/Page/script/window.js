// A page in a window of Hemiola (`hemiola window`): the window has a connection to Hemiola's socket for each WebSocket of the page, and gets
// the page's console and errors. Without a window this part has no effect.

const MAX_REPORTS_PER_SECOND = 20;
const MAX_HANDLERS = 20;
const MAX_NAME = 100;

const nativeWindow = window === window.top ? window.webkit?.messageHandlers?.hemiolaWindow : undefined;
// A page may replace these functions.
const { parse, stringify } = JSON;
// Frames of the page have the handlers too, but not the key, without which the window accepts nothing.
const documentNumber = `${hemiolaInitial?.windowKey ?? ""}${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`;
const sendToWindow = (kind, ...values) => nativeWindow?.postMessage([documentNumber, kind, ...values]);

const sockets = new Map();
let nextSocket = 1;

/** The interface of a WebSocket whose messages are the lines of Hemiola's socket. */
class BridgeSocket extends EventTarget {
    constructor(url) {
        super();
        this.number = nextSocket++;
        this.url = url;
        this.protocol = "hemiola.v1";
        this.extensions = "";
        this.readyState = 0;
        this.bufferedAmount = 0;
        this.binaryType = "blob";
        this.binary = false;
        this.sequence = 0;
        for (const name of ["open", "message", "close", "error"]) {
            this[`on${name}`] = null;
            this.addEventListener(name, (event) => this[`on${name}`]?.(event));
        }
        sockets.set(this.number, this);
        sendToWindow("open", this.number);
    }

    send(text) {
        if (this.readyState === 0) throw new DOMException("the connection is not open", "InvalidStateError");
        if (this.readyState !== 1) return;
        if (typeof text !== "string") return this.finish(1003, true);
        if (text.length > MAX_MESSAGE_BYTES) return this.finish(1009, true);
        const line = text.replace(/[\r\n]+/g, " ");
        let message = null;
        try {
            message = parse(line);
        } catch {
            // Hemiola reports invalid JSON.
        }
        switch (message?.type) {
            case "subscribe":
                return this.subscribe(message);
            case "presetHandler":
                if (typeof message.name === "string") sendToWindow("preset", message.name.slice(0, MAX_TEXT_BYTES));
                break;
            case "presetRefused":
                if (typeof message.name === "string") sendToWindow("presetRefused", message.name.slice(0, MAX_TEXT_BYTES));
                break;
            case "speedHandler":
                if (Number.isFinite(message.speed)) sendToWindow("speed", message.speed);
                break;
            case "closeViz":
                sendToWindow("closeViz");
                break;
        }
        sendToWindow("line", this.number, line);
    }

    /** Sends the subscription, and gives the window one for the time in which the page is hidden. */
    subscribe(message) {
        if (message.payload === "binary") {
            this.binary = true;
            message.payload = "base64";
        } else if (message.payload !== undefined) {
            this.binary = false;
        }
        const streams = Array.isArray(message.streams) ? message.streams : this.streams;
        this.streams = streams;
        const shown = { ...message, streams: streams ?? ["pushSamples"] };
        const hidden = { ...message, streams: (streams ?? []).filter((name) => name !== "pushSamples") };
        sendToWindow("subscribe", this.number, stringify(message), stringify(shown), stringify(hidden));
    }

    close(code = 1000) {
        if (this.readyState >= 2) return;
        this.readyState = 2;
        setTimeout(() => this.finish(code, true));
    }

    finish(code, reportsToWindow) {
        if (this.readyState === 3) return;
        this.readyState = 3;
        sockets.delete(this.number);
        if (reportsToWindow) sendToWindow("close", this.number);
        this.dispatchEvent(new CloseEvent("close", { code, wasClean: code === 1000 }));
    }

    opened() {
        if (this.readyState !== 0) return;
        this.readyState = 1;
        this.dispatchEvent(new Event("open"));
    }

    received(line) {
        if (this.readyState !== 1) return;
        let data = line;
        if (this.binary && line.startsWith('{"type":"pushSamples"')) {
            data = this.sampleMessage(line);
        } else if (line.startsWith('{"type":"loadPresetByName"') || line.startsWith('{"type":"setSpeed"')) {
            const message = parse(line);
            if (message.type === "setSpeed") sendToWindow("speed", message.speed);
            else sendToWindow("preset", String(message.name).slice(0, MAX_TEXT_BYTES));
        }
        this.dispatchEvent(new MessageEvent("message", { data }));
    }

    /** The message of a WebSocket with the payload `binary`, from a line with the payload `base64`. The host's time is unknown. */
    sampleMessage(line) {
        const message = parse(line);
        // Sent before the subscription took effect: a list of numbers.
        if (typeof message.samples !== "string") return line;
        const bytes = decodeBase64(message.samples);
        if (bytes.length !== 4 * SAMPLES_PER_MESSAGE) return line;
        const buffer = new ArrayBuffer(SAMPLE_HEADER_BYTES + bytes.length);
        const view = new DataView(buffer);
        view.setUint32(0, SAMPLE_MESSAGE_KIND, true);
        view.setUint32(4, this.sequence++, true);
        view.setFloat64(8, message.frame ?? 0, true);
        view.setFloat64(16, NaN, true);
        new Uint8Array(buffer, SAMPLE_HEADER_BYTES).set(bytes);
        return buffer;
    }
}

for (const [name, value] of [["CONNECTING", 0], ["OPEN", 1], ["CLOSING", 2], ["CLOSED", 3]]) {
    Object.defineProperty(BridgeSocket, name, { value });
    Object.defineProperty(BridgeSocket.prototype, name, { value });
}

/** Whether an address is that of the page script's connection. */
function isBridge(address) {
    try {
        const url = new URL(address, location.href);
        return url.host === location.host && url.pathname === "/hemiola/socket";
    } catch {
        return false;
    }
}

const windowFunctions = {
    opened: (number) => sockets.get(Number(number))?.opened(),
    closed: (number) => sockets.get(Number(number))?.finish(1006, false),
    lines(number, text) {
        const bridge = sockets.get(Number(number));
        if (bridge) for (const line of text.split("\n")) if (line !== "") bridge.received(line);
    },
};

let reportTimes = [];

/** Prints a line of the page's console, or an exception, with the window's messages. */
function reportToWindow(level, text) {
    const time = performance.now();
    reportTimes = reportTimes.filter((earlier) => time - earlier < 1000);
    if (!nativeWindow || reportTimes.length >= MAX_REPORTS_PER_SECOND) return;
    reportTimes.push(time);
    sendToWindow("console", level, text.slice(0, MAX_TEXT_BYTES));
}

/** Message handlers of any name: a message to one that Hemiola does not have becomes a `message` record. */
function windowHandlers() {
    const others = new Map();
    return new Proxy({}, {
        get(target, name) {
            if (typeof name !== "string" || Object.hasOwn(target, name) || name in Object.prototype) return target[name];
            if (!others.has(name)) {
                if (others.size >= MAX_HANDLERS || name.length > MAX_NAME) return undefined;
                sendToWindow("handler", name);
                others.set(name, { postMessage: (body) => post(name, body) });
            }
            return others.get(name);
        },
    });
}

if (nativeWindow) {
    /** @type {any} */
    const nativeRequest = window.webkit.messageHandlers.hemiolaWindowRequest;
    Object.defineProperty(window, Symbol.for("hemiola.window"), {
        value: (target, name, first, second) => (target === documentNumber ? windowFunctions[name](first, second) : undefined),
    });

    window.WebSocket = new Proxy(window.WebSocket, {
        construct: (target, values, newTarget) =>
            isBridge(values[0]) ? new BridgeSocket(String(values[0])) : Reflect.construct(target, values, newTarget),
    });
    for (const level of ["error", "warn", "info", "log", "debug"]) {
        const original = console[level].bind(console);
        console[level] = (...values) => {
            reportToWindow(level, values.slice(0, 10).map(describe).join(" "));
            original(...values);
        };
    }
    // The property window.webkit itself cannot be replaced. Its object must stay referenced, or the engine may make a new one.
    const namespace = window.webkit;
    const handlers = windowHandlers();
    Object.defineProperty(namespace, "messageHandlers", { get: () => (namespace ? handlers : undefined), configurable: true });
    window.hemiolaWindow = {
        request: (action, value = null) =>
            nativeRequest.postMessage([documentNumber, String(action), stringify(value) ?? "null"]).then((answer) => parse(answer)),
    };
}
