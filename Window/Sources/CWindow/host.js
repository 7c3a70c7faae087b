// Runs in every page before the page script of the web sink (hemiola.js). It connects the page's WebSocket of Hemiola to the window, which
// has a connection to Hemiola's socket for it, and reports the page's console and errors to the window.
(() => {
    "use strict";
    const native = window.webkit?.messageHandlers?.hemiolaWindow;
    const nativeRequest = window.webkit?.messageHandlers?.hemiolaWindowRequest;
    if (!native || window !== window.top) return;

    const MAX_TEXT = 1000;
    const MAX_LINE = 1024 * 1024;
    const MAX_REPORTS_PER_SECOND = 20;
    const MAX_HANDLERS = 20;
    const MAX_NAME = 100;
    const MAX_BODY = 1024;
    const SAMPLE_MESSAGE_KIND = 1;
    const SAMPLE_HEADER_BYTES = 24;
    const SAMPLE_BYTES = 8192;
    const WAIT_MS = 10000;

    // A page may replace these functions.
    const { parse, stringify } = JSON;
    const decode = window.atob.bind(window);
    const now = performance.now.bind(performance);
    const document_ = `${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`;
    const send = (kind, ...values) => native.postMessage([document_, kind, ...values]);

    // MARK: Connection

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
            send("open", this.number);
        }

        send(text) {
            if (this.readyState === 0) throw new DOMException("the connection is not open", "InvalidStateError");
            if (this.readyState !== 1) return;
            if (typeof text !== "string") return this.finish(1003, true);
            if (text.length > MAX_LINE) return this.finish(1009, true);
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
                    if (typeof message.name === "string") send("preset", message.name.slice(0, MAX_TEXT));
                    break;
                case "presetRefused":
                    if (typeof message.name === "string") send("presetRefused", message.name.slice(0, MAX_TEXT));
                    break;
                case "speedHandler":
                    if (Number.isFinite(message.speed)) send("speed", message.speed);
                    break;
                case "closeViz":
                    send("closeViz");
                    break;
            }
            send("line", this.number, line);
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
            send("subscribe", this.number, stringify(message), stringify(shown), stringify(hidden));
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
            if (reportsToWindow) send("close", this.number);
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
                if (message.type === "setSpeed") send("speed", message.speed);
                else send("preset", String(message.name).slice(0, MAX_TEXT));
            }
            this.dispatchEvent(new MessageEvent("message", { data }));
        }

        /** The message of a WebSocket with the payload `binary`, from a line with the payload `base64`. The host's time is unknown. */
        sampleMessage(line) {
            const message = parse(line);
            const bytes = decode(message.samples);
            if (bytes.length !== SAMPLE_BYTES) return line;
            const buffer = new ArrayBuffer(SAMPLE_HEADER_BYTES + SAMPLE_BYTES);
            const view = new DataView(buffer);
            view.setUint32(0, SAMPLE_MESSAGE_KIND, true);
            view.setUint32(4, this.sequence++, true);
            view.setFloat64(8, message.frame ?? 0, true);
            view.setFloat64(16, NaN, true);
            const target = new Uint8Array(buffer, SAMPLE_HEADER_BYTES);
            for (let i = 0; i < bytes.length; i++) target[i] = bytes.charCodeAt(i);
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

    window.WebSocket = new Proxy(window.WebSocket, {
        construct: (target, values, newTarget) =>
            isBridge(values[0]) ? new BridgeSocket(String(values[0])) : Reflect.construct(target, values, newTarget),
    });

    // MARK: Functions that the window calls

    /** Calls a function of the page once the page is loaded and has it. */
    async function call(name, values) {
        const end = now() + WAIT_MS;
        const missing = () => document.readyState !== "complete" || typeof window[name] !== "function" || !Object.hasOwn(window, name);
        while (missing()) {
            if (now() > end) throw new Error(`the page has no function ${name}`);
            await new Promise((resolve) => setTimeout(resolve, 50));
        }
        return stringify((await window[name](...values)) ?? null) ?? "null";
    }

    const functions = {
        opened: (number) => sockets.get(Number(number))?.opened(),
        closed: (number) => sockets.get(Number(number))?.finish(1006, false),
        lines(number, text) {
            const socket = sockets.get(Number(number));
            if (!socket) return;
            for (const line of text.split("\n")) if (line !== "") socket.received(line);
        },
        call: (name, values) => call(name, parse(values)),
    };
    Object.defineProperty(window, Symbol.for("hemiola.window"), {
        value: (target, name, first, second) => (target === "" || target === document_ ? functions[name](first, second) : undefined),
    });

    // MARK: Console and errors

    let reportTimes = [];

    function report(level, text) {
        const time = now();
        reportTimes = reportTimes.filter((earlier) => time - earlier < 1000);
        if (reportTimes.length >= MAX_REPORTS_PER_SECOND) return;
        reportTimes.push(time);
        send("console", level, text.slice(0, MAX_TEXT));
    }

    function describe(value) {
        try {
            if (value instanceof Error) return `${value.name}: ${value.message}`;
            return typeof value === "string" ? value : (stringify(value) ?? String(value));
        } catch {
            return "(a value without text)";
        }
    }

    for (const level of ["error", "warn", "info", "log", "debug"]) {
        const original = console[level].bind(console);
        console[level] = (...values) => {
            report(level, values.slice(0, 10).map(describe).join(" "));
            original(...values);
        };
    }
    window.addEventListener("error", (event) => {
        if (!event.message || event.message.includes("hemiolaInitial")) return;
        report("exception", `${event.message} (${String(event.filename).split("/").pop()}:${event.lineno})`);
    });
    window.addEventListener("unhandledrejection", (event) => report("exception", `unhandled rejection: ${describe(event.reason)}`));

    // MARK: Message handlers

    // The page script adds its handlers here. A message to any other name becomes a `message` record, as to the handlers that the web sink
    // is configured with.
    const others = new Map();

    function otherHandler(name) {
        if (!others.has(name)) {
            if (others.size >= MAX_HANDLERS || name.length > MAX_NAME) return undefined;
            send("handler", name);
            others.set(name, { postMessage: (body) => postOther(name, body) });
        }
        return others.get(name);
    }

    function postOther(name, body) {
        const text = stringify(body) ?? "null";
        if (new TextEncoder().encode(text).length > MAX_BODY) return report("warn", `${name}: the message is longer than ${MAX_BODY} bytes`);
        for (const socket of sockets.values()) {
            if (socket.readyState === 1) return socket.send(stringify({ type: "pageMessage", handler: name, body: text }));
        }
    }

    const handlers = new Proxy({}, {
        get(target, name) {
            if (typeof name !== "string" || Object.hasOwn(target, name) || name in Object.prototype) return target[name];
            return otherHandler(name);
        },
    });
    // The property window.webkit itself cannot be replaced. Its object must stay referenced, or the engine may make a new one.
    const namespace = window.webkit;
    Object.defineProperty(namespace, "messageHandlers", { get: () => (namespace ? handlers : undefined), configurable: true });

    // MARK: Requests to the window

    /** Sends a request to the window and returns its answer asynchronously. */
    window.hemiolaWindow = {
        request: (action, value = null) =>
            nativeRequest.postMessage([document_, String(action), stringify(value) ?? "null"]).then((answer) => parse(answer)),
    };
})();
