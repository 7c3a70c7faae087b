// Drives a page by the clock of a film, whose pictures may take as long as they need. The sink `film` puts this script before all others of a
// document, as a function that it calls with the seed of the random numbers and the first time, and calls `hemiolaFilm.step` before each
// picture.
//
// The page's clocks, timers and random numbers are those of the film. To the page script, the film is a window of Hemiola (window.js).
((seed, start) => {
"use strict";
const native = { performance, requestAnimationFrame, MessageChannel, Error };
const EPOCH = Date.UTC(2000, 0, 1);
// As in browsers: a timer cannot start another one for the same moment.
const SHORTEST_TIMER_MS = 1;

/** The film of the page's own frames; null in a frame of another origin, which the film does not drive. */
function sharedFilm() {
    try {
        return window.top["hemiolaFilm"] ?? (window === window.top ? new Film() : null);
    } catch {
        return null;
    }
}

class Film {
    /** Milliseconds since the first picture. Before it, while the page is loaded, they are negative. */
    now = start;
    #random = seed;
    /** The page script's name of the document, without which the script accepts nothing. */
    document = "";
    #timers = new Map();
    #lastTimer = 0;
    /** What the page works on and the next picture has to wait for. */
    #held = new Set();
    #sent = [];
    #known = new Set();
    /** When each animation began. */
    #animations = new WeakMap();
    #hops = new native.MessageChannel();
    #waiting = [];

    constructor() {
        this.#hops.port1.onmessage = () => this.#waiting.shift()?.();
    }

    /** Lets the next picture wait for a promise, such as that of a worker which draws. Returns the promise. */
    hold(promise) {
        const held = promise.then(() => {}, () => {}).then(() => this.#held.delete(held));
        this.#held.add(held);
        return promise;
    }

    /** Sends the sink a message: its kind, and values. */
    send(...values) {
        this.#sent.push(values);
    }

    /** Reports once that the page uses something that has a clock of its own. */
    warn(name) {
        if (this.#known.size < 10 && !this.#known.has(name)) this.send("undriven", name);
        this.#known.add(name);
    }

    addTimer(delay, interval, run) {
        const wait = Math.max(SHORTEST_TIMER_MS, Number(delay) || 0);
        const id = (this.#lastTimer += 1);
        this.#timers.set(id, { id, due: this.now + wait, interval: interval ? wait : 0, run });
        return id;
    }

    removeTimer(id) {
        this.#timers.delete(id);
    }

    /** A random number, 0…1 (mulberry32). */
    random() {
        this.#random = (this.#random + 0x6d2b79f5) | 0;
        const state = this.#random;
        let value = Math.imul(state ^ (state >>> 15), 1 | state);
        value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
        return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
    }

    /** Goes on to a time in ms, with the timers and messages [time, socket, line] on the way. Returns what the page has sent. */
    async step(time, messages) {
        await this.#settle();
        for (;;) {
            const timer = this.#nextTimer();
            const due = Math.min(timer?.due ?? Infinity, messages[0]?.[0] ?? Infinity);
            if (due > time) break;
            this.now = Math.max(this.now, due);
            if (!timer || messages[0]?.[0] === due) {
                const [, socket, line] = messages.shift();
                this.deliver(socket, line);
            } else {
                if (timer.interval) timer.due += timer.interval;
                else this.#timers.delete(timer.id);
                this.#run(timer.run);
            }
            await this.#settle();
        }
        this.now = time;
        this.#moveAnimations();
        return this.#sent.splice(0);
    }

    /** Shows the animations and transitions of style sheets, and those of `animate`, at the time of the film. */
    #moveAnimations() {
        for (const animation of document.getAnimations()) {
            if (animation.timeline !== document.timeline) continue;
            if (animation.playState === "running") {
                this.#animations.set(animation, this.now - Number(animation.currentTime ?? 0) / animation.playbackRate);
                animation.pause();
            }
            const start = this.#animations.get(animation);
            if (start === undefined) continue;
            animation.currentTime = (this.now - start) * animation.playbackRate;
            if (animation.currentTime >= Number(animation.effect?.getComputedTiming().endTime)) animation.finish();
        }
    }

    /** Gives the page's connection a line; an empty one opens it. */
    deliver(socket, line) {
        const key = window[Symbol.for("hemiola.window")];
        if (line === "") key?.(this.document, "opened", socket);
        else key?.(this.document, "lines", socket, line);
    }

    #nextTimer() {
        let first = null;
        for (const timer of this.#timers.values()) if (!first || timer.due < first.due) first = timer;
        return first;
    }

    #run(callback) {
        try {
            callback();
        } catch (error) {
            reportError(error);
        }
    }

    /** Waits until the page has done what it can do now: its tasks, and what is held. */
    async #settle() {
        do {
            await Promise.all(this.#held);
            for (let i = 0; i < 2; i++) {
                await new Promise((resolve) => {
                    this.#waiting.push(resolve);
                    this.#hops.port2.postMessage(null);
                });
            }
        } while (this.#held.size > 0);
    }
}

const film = sharedFilm();
if (!film) return;
const isTop = window === window.top;

if (isTop) {
    Object.defineProperty(window, "hemiolaFilm", { value: film });
    window.webkit = /** @type {any} */ ({
        messageHandlers: {
            hemiolaWindow: {
                postMessage([document, kind, ...values]) {
                    film.document = document;
                    film.send(kind, ...values);
                },
            },
            hemiolaWindowRequest: { postMessage: () => Promise.reject(new Error("a film has no window")) },
        },
    });
}

// The clocks.
Performance.prototype.now = () => film.now;
window.Date = new Proxy(Date, {
    construct: (target, values, newTarget) => Reflect.construct(target, values.length > 0 ? values : [EPOCH + film.now], newTarget),
    apply: (target) => new target(EPOCH + film.now).toString(),
    get: (target, name) => (name === "now" ? () => Math.floor(EPOCH + film.now) : Reflect.get(target, name)),
});
window.requestAnimationFrame = (callback) => native.requestAnimationFrame.call(window, () => callback(film.now));
const timer = (interval) => (callback, delay, ...values) => {
    if (typeof callback !== "function") throw new TypeError("the timers of a film take functions");
    return film.addTimer(delay, interval, () => callback(...values));
};
window.setTimeout = /** @type {any} */ (timer(false));
window.setInterval = /** @type {any} */ (timer(true));
window.clearTimeout = window.clearInterval = (id) => film.removeTimer(id);
window.requestIdleCallback = (callback) => film.addTimer(0, false, () => callback({ didTimeout: false, timeRemaining: () => 10 }));
window.cancelIdleCallback = (id) => film.removeTimer(id);
Math.random = () => film.random();

// What a picture waits for.
const asynchronous = [
    [window, ["fetch", "createImageBitmap"]],
    [Response.prototype, ["arrayBuffer", "blob", "json", "text"]],
    [Blob.prototype, ["arrayBuffer", "text"]],
    [HTMLImageElement.prototype, ["decode"]],
    [FontFace.prototype, ["load"]],
    // A page that is not secure has none of these two.
    [window.CacheStorage?.prototype, ["open", "match", "keys"]],
    [window.Cache?.prototype, ["match", "matchAll", "keys"]],
    [WebAssembly, ["compile", "compileStreaming", "instantiate", "instantiateStreaming"]],
];
for (const [owner, names] of /** @type {[any, string[]][]} */ (asynchronous)) {
    for (const name of owner ? names : []) {
        const start = owner[name];
        owner[name] = function (...values) {
            return film.hold(start.apply(this ?? window, values));
        };
    }
}
const ended = (target, ...names) => new Promise((resolve) => names.forEach((name) => target.addEventListener(name, resolve, { once: true })));
const { send } = XMLHttpRequest.prototype;
XMLHttpRequest.prototype.send = function (...values) {
    film.hold(ended(this, "loadend"));
    send.apply(this, values);
};
const source = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, "src");
Object.defineProperty(HTMLImageElement.prototype, "src", {
    ...source,
    set(address) {
        source?.set?.call(this, address);
        if (!this.complete && this.loading !== "lazy") film.hold(ended(this, "load", "error"));
    },
});
// The page is loaded with the frames that it has then.
if (isTop) film.hold(ended(window, "load"));

// What has a clock of its own.
const undriven = { Worker: "a Worker", SharedWorker: "a SharedWorker", AudioContext: "WebAudio", OfflineAudioContext: "WebAudio" };
for (const [name, title] of Object.entries(undriven)) {
    if (!window[name]) continue;
    window[name] = new Proxy(window[name], {
        construct(target, values, newTarget) {
            film.warn(title);
            return Reflect.construct(target, values, newTarget);
        },
    });
}
const { play } = HTMLMediaElement.prototype;
HTMLMediaElement.prototype.play = function () {
    film.warn(this instanceof HTMLVideoElement ? "a video element" : "an audio element");
    return play.call(this);
};
})
