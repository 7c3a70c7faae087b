const hemiolaInitial = null;
// The page script: connects a web page to Hemiola. It runs before the page's own scripts, as
//
//     <script src="/hemiola.js"></script>                                      in a page that Hemiola serves (inserted automatically)
//     <script src="http://127.0.0.1:8043/hemiola.js?token=TOKEN"></script>     in a page of another server (setting origin=)
//
// For the page it is what a native web view is: it calls pushSamples, resumeAudio, setSpeed and loadPresetByName, and provides
// webkit.messageHandlers. window.hemiola has records, controls and the clock as well; hemiola.d.ts describes it.
// Hemiola replaces the first line by the current state.
(() => {
    "use strict";
    if (window.hemiola) return;

    const SAMPLE_MESSAGE_KIND = 1;
    const SAMPLE_HEADER_BYTES = 24;
    const SAMPLES_PER_MESSAGE = 2048;
    const FRAMES_PER_MESSAGE = SAMPLES_PER_MESSAGE / 2;
    const STANDARD_HANDLERS = ["presetHandler", "speedHandler", "keyHandler", "closeViz"];
    const RETRY_MIN_MS = 250;
    const RETRY_MAX_MS = 5000;
    const CLOCK_INTERVAL_MS = 5000;
    // After so many intervals without any message the connection is closed and opened again.
    const SILENT_INTERVALS = 3;
    const ANSWER_TIMEOUT_MS = 5000;
    const MAX_MESSAGE_BYTES = 1024 * 1024;
    const MAX_TEXT_BYTES = 1000;
    const MAX_ERRORS_PER_MINUTE = 20;
    const MAX_IMPORT_BYTES = 32 * 1024 * 1024;
    // Hemiola accepts 512 levels in a message.
    const MAX_DEPTH = 500;

    // MARK: Pure parts

    /** Decodes a binary sample message. Returns null if it is not one. */
    function decodeSamples(buffer) {
        if (buffer.byteLength !== SAMPLE_HEADER_BYTES + 4 * SAMPLES_PER_MESSAGE) return null;
        const view = new DataView(buffer);
        if (view.getUint32(0, true) !== SAMPLE_MESSAGE_KIND) return null;
        return {
            sequence: view.getUint32(4, true),
            frame: view.getFloat64(8, true),
            hostTime: view.getFloat64(16, true),
            samples: new Float32Array(buffer, SAMPLE_HEADER_BYTES, SAMPLES_PER_MESSAGE),
        };
    }

    /** Estimates the host's clock minus performance.now(), in ms, from request and answer times. */
    class ClockOffset {
        constructor(capacity = 16) {
            this.capacity = capacity;
            this.measurements = [];
            this.value = NaN;
        }

        /** Adds one exchange. The exchange with the minimum round trip gives the offset: its delays are the least asymmetric. */
        add(sent, hostTime, received) {
            this.measurements.push({ roundTrip: received - sent, offset: hostTime - (sent + received) / 2 });
            if (this.measurements.length > this.capacity) this.measurements.shift();
            let best = this.measurements[0];
            for (const measurement of this.measurements) if (measurement.roundTrip <= best.roundTrip) best = measurement;
            this.value = best.offset;
            return this.value;
        }
    }

    /** Estimates clock time minus stream time, in ms, from the times at which batches were encoded. */
    class StreamClock {
        /** `capacity`: number of the latest messages that are used; 430 are 10 s at 44.1 kHz, 9 s at 48 kHz. */
        constructor(capacity = 430) {
            this.differences = new Float64Array(capacity);
            this.reset();
        }

        reset() {
            this.count = 0;
            this.next = 0;
            this.late = 0;
            this.value = NaN;
        }

        /**
         * Adds a batch that ends at `streamTime` and was encoded at `clockTime`, both in ms. Encoding is late by a varying time and never
         * early, so the minimum is used. The limited window follows the drift between the two clocks. If all batches of one second are
         * later than the minimum by more than 40 ms, the stream was interrupted and the window restarts.
         */
        add(streamTime, clockTime) {
            const difference = clockTime - streamTime;
            this.late = difference > this.value + 40 ? this.late + 1 : 0;
            if (this.late >= 43) {
                const latest = this.differences.length;
                const recent = [];
                for (let i = 1; i < 43; i++) recent.push(this.differences[(this.next - i + latest) % latest]);
                this.reset();
                for (const earlier of recent) this.store(earlier);
            }
            this.store(difference);
            let minimum = Infinity;
            for (let i = 0; i < this.count; i++) if (this.differences[i] < minimum) minimum = this.differences[i];
            this.value = minimum;
            return this.value;
        }

        store(difference) {
            this.differences[this.next] = difference;
            this.next = (this.next + 1) % this.differences.length;
            if (this.count < this.differences.length) this.count += 1;
        }
    }

    /** Shortens a text to at most `limit` bytes of UTF-8, and replaces unpaired surrogates, which JSON in UTF-8 cannot contain. */
    function shorten(text, limit = MAX_TEXT_BYTES) {
        const wellFormed = String(text).replace(/\p{Surrogate}/gu, "\ufffd");
        let bytes = 0;
        let end = 0;
        for (const character of wellFormed) {
            bytes += byteCount(character);
            if (bytes > limit) return wellFormed.slice(0, end);
            end += character.length;
        }
        return wellFormed;
    }

    /** Bytes of a character in UTF-8. */
    function byteCount(character) {
        const code = character.codePointAt(0);
        return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    }

    /** Text of an error or of any other thrown value. */
    function describe(error) {
        try {
            if (error instanceof Error) return `${error.name}: ${error.message}`;
            return typeof error === "string" ? error : JSON.stringify(error) ?? String(error);
        } catch {
            return "unknown error";
        }
    }

    /** Joins byte arrays and encodes them as base64. */
    function encodeBase64(chunks) {
        const CHUNK = 3 * 8192;
        const parts = [];
        let rest = new Uint8Array(0);
        const encode = (bytes) => parts.push(btoa(String.fromCharCode.apply(null, bytes)));
        for (const chunk of chunks) {
            const bytes = new Uint8Array(rest.length + chunk.length);
            bytes.set(rest);
            bytes.set(chunk, rest.length);
            let start = 0;
            for (; start + CHUNK <= bytes.length; start += CHUNK) encode(bytes.subarray(start, start + CHUNK));
            rest = bytes.slice(start);
        }
        if (rest.length > 0) encode(rest);
        return parts.join("");
    }

    const decodeBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

    /** Names of presets from the value of getPresetNames(): an array of names or objects, an object by name, or JSON text of these. */
    function presetNames(value) {
        if (typeof value === "string") {
            try {
                value = JSON.parse(value);
            } catch {
                return [];
            }
        }
        if (!value || typeof value !== "object") return [];
        const list = Array.isArray(value) ? value : Object.keys(value);
        const names = list.map(presetName).filter((name) => name !== null).slice(0, 10000);
        // The names must fit into one message.
        let bytes = 0;
        const sent = names.filter((name) => (bytes += new TextEncoder().encode(JSON.stringify(name)).length + 1) < MAX_MESSAGE_BYTES - 1024);
        if (sent.length < names.length) console.warn(`hemiola: only ${sent.length} of ${names.length} presets are reported: 1 MiB`);
        return sent;
    }

    /** A preset's name from a message body or a function's value, or null. */
    function presetName(value) {
        if (value && typeof value === "object") value = value.name ?? value.preset ?? value.presetName;
        if (typeof value !== "string" || value === "") return null;
        return shorten(value) === value ? value : null;
    }

    /** Key events from the body of a keyHandler message: a key's name alone is a key that was pressed and released. */
    function keyEvents(body) {
        const key = body && typeof body === "object" ? body.key : body;
        if (typeof key !== "string" || key === "") return [];
        const event = body.event ?? body.type;
        return (event === "keydown" || event === "keyup" ? [event] : ["keydown", "keyup"]).map((event) => ({ key, event }));
    }

    // MARK: Address

    const script = document.currentScript ?? document.querySelector?.('script[src*="hemiola.js"]');
    const scriptAddress = new URL(script?.src || "/hemiola.js", location.href);

    function socketAddress() {
        const address = new URL("hemiola/socket", scriptAddress);
        address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
        address.search = "";
        address.hash = "";
        return address.href;
    }

    /** The token from the script's address, or from the page's address if both have the same origin. The cookie needs none. */
    function socketProtocols() {
        const own = scriptAddress.origin === location.origin ? new URL(location.href).searchParams.get("token") : null;
        const token = scriptAddress.searchParams.get("token") ?? own;
        return token && /^[\w.~-]+$/.test(token) ? ["hemiola.v1", `hemiola.token.${token}`] : ["hemiola.v1"];
    }

    // MARK: The page's functions

    // Functions of the browser. Calls never reach these, so that a call cannot evaluate text as code.
    const browserFunctions = new Set();
    for (const name of Object.getOwnPropertyNames(window)) {
        const value = Object.getOwnPropertyDescriptor(window, name)?.value;
        if (typeof value === "function" && Function.prototype.toString.call(value).includes("[native code]")) browserFunctions.add(name);
    }

    /** The page's global function of this name, or null. */
    function pageFunction(name) {
        if (typeof name !== "string" || !/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) || browserFunctions.has(name)) return null;
        const value = Object.hasOwn(window, name) ? window[name] : undefined;
        return typeof value === "function" ? value : null;
    }

    /** Waits for a value for at most ANSWER_TIMEOUT_MS; a rejection or a timeout gives undefined. */
    function settled(value) {
        return Promise.race([
            Promise.resolve(value).catch((error) => report(error)),
            new Promise((resolve) => setTimeout(resolve, ANSWER_TIMEOUT_MS)),
        ]);
    }

    async function read(name) {
        const read = pageFunction(name);
        if (!read) return undefined;
        try {
            return await settled(read());
        } catch (error) {
            report(error);
            return undefined;
        }
    }

    // MARK: window.hemiola

    class Hemiola extends EventTarget {
        static ClockOffset = ClockOffset;
        static StreamClock = StreamClock;
        static decodeSamples = decodeSamples;
        static encodeBase64 = encodeBase64;
        static keyEvents = keyEvents;
        static presetNames = presetNames;
        static shorten = shorten;

        #delay = 0;

        constructor() {
            super();
            this.connected = false;
            this.closed = false;
            this.hello = null;
            this.blendSeconds = 0;
            try {
                this.setDelay(Number(localStorage.getItem("hemiola.delay") ?? 0), false);
            } catch {
                // Storage can be disabled; the delay is then not stored.
            }
        }

        /** Seconds that the page adds to the time at which it shows sound: positive is later. */
        get delay() {
            return this.#delay;
        }

        set delay(seconds) {
            this.setDelay(seconds);
        }

        setDelay(seconds, store = true) {
            if (!Number.isFinite(seconds)) return;
            this.#delay = Math.min(5, Math.max(-1, seconds));
            if (store) {
                try {
                    localStorage.setItem("hemiola.delay", String(this.#delay));
                } catch {
                    // Storage can be disabled.
                }
            }
            emit("delay", { delay: this.#delay });
        }

        get sampleRate() {
            return this.hello?.sample_rate ?? NaN;
        }

        /** Stream time in seconds that the host captures or plays at this moment; NaN before the first samples. */
        now() {
            return this.toStreamTime(performance.now());
        }

        /** performance.now() at a stream time in seconds. */
        toLocalTime(streamTime) {
            return streamTime * 1000 + localDifference();
        }

        /** Stream time in seconds at a value of performance.now(). */
        toStreamTime(localTime) {
            return (localTime - localDifference()) / 1000;
        }

        /** Sends a message and returns the reply {ok, error, value}. Rejects when the connection is or becomes closed. */
        send(message) {
            return new Promise((resolve, reject) => {
                if (!this.connected) return reject(new Error("not connected to Hemiola"));
                const id = nextId++;
                requests.set(id, { resolve, reject });
                if (!transmit({ ...message, id })) {
                    requests.delete(id);
                    reject(new Error("the message is longer than 1 MiB"));
                }
            });
        }

        /** Selects the streams that this client receives: record types and "pushSamples". Kept when the connection is opened again. */
        subscribe(streams) {
            subscription.streams = [...streams];
            if (!this.connected) return Promise.resolve({ ok: true, error: null });
            // A lost connection is no error: the subscription is sent again.
            return this.send({ type: "subscribe", ...subscription }).catch(() => ({ ok: true, error: null }));
        }

        /** Reports the progress of the call that the page works on: any JSON value. */
        progress(value) {
            if (currentCall && cancelledCalls.size === 0) transmit({ type: "progress", call: currentCall.number, value: value ?? null });
        }

        /** Opens the connection at once, also after closeViz. */
        connect() {
            this.closed = false;
            retryDelay = RETRY_MIN_MS;
            open();
        }

        /** Closes the connection; connect() opens it again. */
        disconnect() {
            this.closed = true;
            clearTimeout(retryTimer);
            socket?.close(1000);
        }
    }

    const clockOffset = new ClockOffset();
    const streamClock = new StreamClock();
    // Whether streamClock uses the host's clock. JSON samples have no host time: then it uses the time of arrival.
    let usesHostTime = false;

    function localDifference() {
        return usesHostTime ? streamClock.value - clockOffset.value : streamClock.value;
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

    const hemiola = new Hemiola();
    window.hemiola = hemiola;

    function emit(name, detail) {
        // The constructor sets the delay before window.hemiola exists.
        window.hemiola?.dispatchEvent(new CustomEvent(name, { detail }));
    }

    function transmit(message) {
        if (socket?.readyState !== WebSocket.OPEN) return false;
        const text = JSON.stringify(message);
        if (text.length > MAX_MESSAGE_BYTES / 4 && new TextEncoder().encode(text).length > MAX_MESSAGE_BYTES) return false;
        socket.send(text);
        return true;
    }

    // MARK: Connection

    function open() {
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
        currentImport = null;
        visualizer.stop();
        for (const request of requests.values()) request.reject(new Error("the connection to Hemiola was closed"));
        requests.clear();
        emit("connection", { connected: false, closed: hemiola.closed, attempt, retry_ms: hemiola.closed ? null : retryDelay });
        retry();
    }

    function retry() {
        if (hemiola.closed) return;
        retryTimer = setTimeout(open, retryDelay);
        retryDelay = Math.min(RETRY_MAX_MS, retryDelay * 2);
    }

    function measureClock() {
        transmit({ type: "clock", sent: performance.now() });
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
        receivers[message.type]?.(message);
        emit(message.type, message);
    }

    function samplesOfMessage(message) {
        return { sequence: null, frame: message.frame, hostTime: NaN, samples: Float32Array.from(message.samples) };
    }

    function receivedSamples(message) {
        const hostTime = Number.isFinite(message.hostTime);
        if (hostTime !== usesHostTime) {
            usesHostTime = hostTime;
            streamClock.reset();
        }
        const streamTime = (1000 * (message.frame + FRAMES_PER_MESSAGE)) / hemiola.sampleRate;
        if (Number.isFinite(streamTime)) streamClock.add(streamTime, hostTime ? message.hostTime : lastMessageTime);
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
        import: (message) => beginImport(message),
        importData: (message) => continueImport(message),
        cancel: (message) => cancel(message.call),
    };

    // MARK: The page as a visualizer

    /** Calls the page's functions once the page is loaded, and keeps what arrived before. */
    const visualizer = {
        loaded: false,
        speed: null,
        preset: null,
        audioRequested: false,
        isReady: false,
        timer: 0,

        /** The connection was opened: sends `ready` when the page has its functions. */
        start() {
            this.isReady = false;
            this.poll();
        },

        stop() {
            clearTimeout(this.timer);
        },

        poll() {
            clearTimeout(this.timer);
            if (this.loaded && hemiola.connected && !this.isReady) {
                const names = ["pushSamples", "loadPresetByName", "getPresetNames", "setSpeed"];
                if (names.some((name) => pageFunction(name))) {
                    this.isReady = true;
                    this.announce();
                }
            }
            this.applyPending();
            const waits = this.speed !== null || this.preset !== null || this.audioRequested;
            if (!this.loaded || (this.isReady && !waits)) return;
            this.timer = setTimeout(() => this.poll(), document.hidden ? 1000 : 100);
        },

        /** Sends `ready`, and the page's own preset unless Hemiola has one. */
        async announce() {
            await this.reportPresets("ready", "presets");
            await new Promise((resolve) => setTimeout(resolve, 500));
            const known = hemiola.hello?.visualizer?.preset ?? null;
            if (known !== null || this.hostPreset) return;
            const name = presetName(await read("getCurrentPreset"));
            if (name !== null && !this.hostPreset) transmit({ type: "presetHandler", name });
        },

        /** Sends the page's list of presets. Pages load their presets late: an empty list is read again for half a minute. */
        async reportPresets(type, field) {
            const connection = socket;
            const names = presetNames(await read("getPresetNames"));
            if (socket !== connection) return;
            transmit(type === "ready" && names.length === 0 ? { type } : { type, [field]: names });
            for (let i = 0; i < 30 && names.length === 0 && pageFunction("getPresetNames"); i++) {
                await new Promise((resolve) => setTimeout(resolve, 1000));
                if (socket !== connection) return;
                const later = presetNames(await read("getPresetNames"));
                if (later.length > 0) return void transmit({ type: "presetNames", names: later });
            }
        },

        restore(state) {
            this.hostPreset = false;
            if (state?.speed != null) this.setSpeed(state.speed);
        },

        resumeAudio() {
            this.audioRequested = true;
            this.audioWanted = true;
            this.poll();
        },

        setSpeed(speed) {
            this.speed = speed;
            this.poll();
        },

        loadPreset(name) {
            this.preset = name;
            this.hostPreset = true;
            this.poll();
        },

        applyPending() {
            if (!this.loaded) return;
            if (this.audioRequested && this.call("resumeAudio", [])) this.audioRequested = false;
            if (this.speed !== null && this.call("setSpeed", [this.speed])) this.speed = null;
            if (this.preset !== null) {
                const name = this.preset;
                if (this.call("loadPresetByName", [name], () => transmit({ type: "presetRefused", name }))) this.preset = null;
            }
        },

        /** Calls a function and does not wait for it. Returns whether it exists. */
        call(name, values, failed) {
            const target = pageFunction(name);
            if (!target) return false;
            try {
                const result = target(...values);
                if (typeof result?.then === "function") {
                    result.then(undefined, (error) => {
                        report(error);
                        failed?.();
                    });
                }
            } catch (error) {
                report(error);
                failed?.();
            }
            return true;
        },

        /** The page gets a plain array, as from a native host, whose messages are JSON. */
        pushSamples(samples) {
            if (this.loaded && pageFunction("pushSamples")) this.call("pushSamples", [Array.from(samples)]);
        },
    };

    function pageLoaded() {
        // The page's handlers of `load` run first.
        setTimeout(() => {
            visualizer.loaded = true;
            visualizer.poll();
        });
    }

    if (document.readyState === "complete") pageLoaded();
    else window.addEventListener("load", pageLoaded, { once: true });

    // Browsers start audio only after a gesture of the user.
    const GESTURES = ["pointerup", "mousedown", "touchend", "keydown"];
    function gesture() {
        if (!visualizer.audioWanted || navigator.userActivation?.hasBeenActive === false) return;
        for (const name of GESTURES) window.removeEventListener(name, gesture, true);
        if (visualizer.loaded) visualizer.call("resumeAudio", []);
    }
    for (const name of GESTURES) window.addEventListener(name, gesture, { capture: true, passive: true });

    // MARK: Messages of the page

    function post(handler, body) {
        switch (handler) {
            case "presetHandler": {
                const name = presetName(body);
                if (name !== null) transmit({ type: "presetHandler", name });
                break;
            }
            case "speedHandler": {
                const speed = Number(body && typeof body === "object" ? body.speed ?? body.value : body);
                if (Number.isFinite(speed)) transmit({ type: "speedHandler", speed: Math.min(1, Math.max(0.1, speed)) });
                break;
            }
            case "keyHandler":
                for (const event of keyEvents(body)) transmit({ type: "keyHandler", ...event });
                break;
            case "closeViz":
                hemiola.closed = true;
                transmit({ type: "closeViz" });
                setTimeout(() => hemiola.closed && hemiola.disconnect(), 500);
                break;
            default: {
                const text = JSON.stringify(body) ?? "null";
                if (shorten(text, 1024) === text) transmit({ type: "pageMessage", handler, body: text });
                else console.warn(`hemiola: ${handler}: the message is longer than 1024 bytes`);
            }
        }
    }

    const webkit = (window.webkit ??= {});
    const handlers = (webkit.messageHandlers ??= {});
    for (const name of [...STANDARD_HANDLERS, ...(hemiolaInitial?.handlers ?? [])]) {
        if (!Object.hasOwn(handlers, name)) handlers[name] = { postMessage: (body) => post(name, body) };
    }
    if (typeof hemiolaInitial?.presetB64 === "string") window.initialPresetNameB64 = hemiolaInitial.presetB64;
    if (typeof hemiolaInitial?.speed === "number") window.initialSpeed = hemiolaInitial.speed;

    // MARK: Errors of the page

    const waitingErrors = [];
    let errorTimes = [];

    function report(error, source, line) {
        const now = performance.now();
        errorTimes = errorTimes.filter((time) => now - time < 60000);
        if (errorTimes.length >= MAX_ERRORS_PER_MINUTE) return;
        errorTimes.push(now);
        const message = { type: "pageError", message: shorten(describe(error)) };
        if (source) message.source = shorten(String(source).replace(/([?&]token=)[^&]*/, "$1…"));
        if (Number.isInteger(line) && line > 0) message.line = line;
        if (!transmit(message) && waitingErrors.length < MAX_ERRORS_PER_MINUTE) waitingErrors.push(message);
    }

    window.addEventListener("error", (event) => {
        // A page that includes this script itself gets it twice.
        if (event.message?.includes("hemiolaInitial")) return event.preventDefault();
        if (event.message) report(event.message, event.filename, event.lineno);
    });
    window.addEventListener("unhandledrejection", (event) => report(event.reason));

    // MARK: Calls and imports

    let currentCall = null;
    let currentImport = null;
    // Calls that were cancelled and whose functions still run: which function reports its progress is then unknown.
    const cancelledCalls = new Set();

    /** Calls a function of the page and sends its value. A value that is not JSON, an exception and a missing function are answers too. */
    async function call(number, name, values) {
        const running = { number };
        currentCall = running;
        const answer = { type: "result", call: number };
        try {
            const target = pageFunction(name);
            if (!target) throw new Error(`the page has no function ${shorten(name, 100)}`);
            answer.value = (await target(...values)) ?? null;
            if (JSON.stringify(answer.value) === undefined) answer.value = null;
        } catch (error) {
            delete answer.value;
            answer.error = shorten(describe(error));
        }
        if (currentCall === running) currentCall = null;
        if (cancelledCalls.delete(running)) return;
        if (depth(answer.value) > MAX_DEPTH) {
            delete answer.value;
            answer.error = `the result has more than ${MAX_DEPTH} levels`;
        }
        if (!transmit(answer)) transmit({ type: "result", call: number, error: "the result is longer than 1 MiB" });
    }

    /** The number of levels of a value that is a list or an object, at most MAX_DEPTH + 1. */
    function depth(value) {
        let level = [value];
        for (let count = 0; count <= MAX_DEPTH; count++) {
            level = level.filter((item) => item !== null && typeof item === "object");
            if (level.length === 0) return count;
            level = level.flatMap((item) => Object.values(item));
        }
        return MAX_DEPTH + 1;
    }

    /** The host waits no longer for the answer to a call. */
    function cancel(number) {
        if (currentImport?.number === number) {
            currentImport = null;
        } else if (currentCall?.number === number) {
            cancelledCalls.add(currentCall);
            currentCall = null;
        }
    }

    function beginImport({ call: number, name, size }) {
        currentImport = { number, name, size, received: 0, chunks: [] };
        if (!pageFunction("importFile")) return failImport("the page has no function importFile");
        if (!(size <= MAX_IMPORT_BYTES)) return failImport("the file is larger than 32 MiB");
        acknowledgeImport();
    }

    function continueImport({ call: number, data }) {
        if (currentImport?.number !== number) return;
        try {
            const bytes = decodeBase64(data);
            currentImport.chunks.push(bytes);
            currentImport.received += bytes.length;
        } catch {
            return failImport("invalid base64");
        }
        acknowledgeImport();
    }

    function acknowledgeImport() {
        const { number, name, size, received, chunks } = currentImport;
        if (received > size) return failImport("more data than announced");
        if (received < size) return void transmit({ type: "importReady", call: number });
        currentImport = null;
        call(number, "importFile", [name, encodeBase64(chunks)]);
    }

    function failImport(error) {
        transmit({ type: "result", call: currentImport.number, error });
        currentImport = null;
    }

    // MARK: Start

    window.addEventListener("online", () => !hemiola.connected && !hemiola.closed && hemiola.connect());
    document.addEventListener("visibilitychange", () => {
        if (!document.hidden && !hemiola.connected && !hemiola.closed) hemiola.connect();
    });
    window.addEventListener("pagehide", () => socket?.close(1000));
    open();
})();
