// The page as a visualizer: calls its functions once the page is loaded, and keeps what arrived before.

const ANSWER_TIMEOUT_MS = 5000;

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
    if (!visualizer.audioWanted || navigator["userActivation"]?.hasBeenActive === false) return;
    for (const name of GESTURES) window.removeEventListener(name, gesture, true);
    if (visualizer.loaded) visualizer.call("resumeAudio", []);
}
for (const name of GESTURES) window.addEventListener(name, gesture, { capture: true, passive: true });
