// window.hemiola: what a page can use; hemiola.d.ts describes it.

class Hemiola extends EventTarget {
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
        this.dispatchEvent(new CustomEvent("delay", { detail: { delay: this.#delay } }));
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
        openSocket();
    }

    /** Closes the connection; connect() opens it again. */
    disconnect() {
        this.closed = true;
        clearTimeout(retryTimer);
        socket?.close(1000);
    }
}

const hemiola = new Hemiola();
window.hemiola = hemiola;

function emit(name, detail) {
    hemiola.dispatchEvent(new CustomEvent(name, { detail }));
}
