// The frame in which presets of others run, seen from the page: what it may do, how long it may take, and its end.

// The first picture of a preset can compile shaders.
const DRAW_SECONDS = 8;
const LOAD_SECONDS = 20;
// Messages a second that are no answers, and those at once.
const EXTRA_RATE = 20;
const EXTRA_LIMIT = 100;

/// A sandboxed frame, which `place(element)` puts into the page. `onfailure(message)` is called once, when it was removed.
export class PresetFrame {
    #element = document.createElement("iframe");
    #port = null;
    #pending = new Map();
    #lastId = 0;
    #extra = 0;
    #drawing = 0;
    #elapsed = 0;
    #onfailure;
    /// The film that is made of the page, which waits for the frame; and where its pictures are shown: those that a worker shows itself have
    /// a clock of their own.
    #film = window["hemiolaFilm"];
    #picture = this.#film && document.createElement("canvas");
    #abandon = (_) => {};

    constructor(place, onfailure) {
        this.#onfailure = onfailure;
        const frame = this.#element;
        // Without allow-same-origin: no cookies, no storage, nothing of this page.
        frame.setAttribute("sandbox", "allow-scripts");
        frame.setAttribute("aria-hidden", "true");
        frame.referrerPolicy = "no-referrer";
        frame.className = "stage-frame";
        // It takes no key and no click.
        frame.inert = true;
        frame.src = "stage/frame.html";
        frame.style.opacity = "0";
        place(frame);
        if (!this.#picture) return;
        this.#picture.className = "stage-frame";
        this.#picture.style.opacity = "0";
        place(this.#picture);
    }

    /// Waits until the frame is loaded, and starts its script.
    async start() {
        const loaded = new Promise((resolve, reject) => {
            this.#abandon = reject;
            this.#element.addEventListener("load", resolve, { once: true });
        });
        const [response] = await Promise.all([fetch("stage/frame.js"), loaded]);
        if (!response.ok) throw new Error(`status ${response.status}`);
        const script = await response.text();
        if (!this.#element.isConnected) throw new Error("it was stopped");
        const { port1, port2 } = new MessageChannel();
        this.#port = port1;
        port1.onmessage = ({ data }) => this.#receive(data);
        this.#element.contentWindow?.postMessage(script, "*", [port2]);
        if (this.#film) await this.#request({ action: "film", seed: Math.floor(Math.random() * 2 ** 32) }, LOAD_SECONDS);
    }

    #receive(data) {
        const request = this.#pending.get(data?.id);
        if (request) {
            this.#pending.delete(data.id);
            if (typeof data.error === "string") request.reject(new Error(data.error.slice(0, 500)));
            else request.resolve(data.value);
        } else if (typeof data?.error === "string") {
            this.fail(data.error.slice(0, 500));
        } else if ((this.#extra += 1) > EXTRA_LIMIT) {
            this.fail("it sends too many messages");
        }
    }

    #request(message, seconds) {
        if (!this.#port) return Promise.reject(new Error("it has no frame"));
        const answer = new Promise((resolve, reject) => {
            this.#lastId += 1;
            this.#pending.set(this.#lastId, { resolve, reject, seconds, isPicture: message.action === "draw" });
            this.#port.postMessage({ ...message, id: this.#lastId });
        });
        this.#film?.hold(answer);
        return answer;
    }

    /// Runs the code of a file. Returns the names of the presets in it, and whether it is a visualizer.
    async run(code) {
        const { names, isVisualizer } = (await this.#request({ action: "run", code }, LOAD_SECONDS)) ?? {};
        const isName = (name) => typeof name === "string" && name !== "" && name.length < 300;
        return { names: Array.isArray(names) ? names.filter(isName) : [], isVisualizer: isVisualizer === true };
    }

    /// Loads a preset of a pack, or one with its values.
    load(name, preset, blend, sampleRate) {
        return this.#request({ action: "load", name, preset, blend, sampleRate }, LOAD_SECONDS);
    }

    /// Requests a picture, unless two are being drawn. `drawn` is called when it was drawn.
    draw(frame, width, height, drawn) {
        this.#elapsed += frame.step;
        if (this.#drawing === 2) return;
        this.#drawing += 1;
        const { left, right, waveform } = frame;
        this.#request({ action: "draw", seconds: this.#elapsed, left, right, mono: waveform, width, height }, DRAW_SECONDS)
            .then((bitmap) => {
                this.#drawing -= 1;
                if (this.#picture && bitmap instanceof ImageBitmap) {
                    this.#picture.getContext("bitmaprenderer").transferFromImageBitmap(bitmap);
                }
                drawn();
            })
            .catch((error) => this.fail(error.message));
        this.#elapsed = 0;
    }

    /// Takes the time since the picture before: while the page is not shown, no time passes for the frame either.
    pass(seconds) {
        this.#extra = Math.max(0, this.#extra - EXTRA_RATE * seconds);
        const isLoading = [...this.#pending.values()].some((request) => !request.isPicture);
        for (const request of this.#pending.values()) {
            // Pictures wait for what is loaded.
            if (isLoading && request.isPicture) continue;
            request.seconds -= seconds;
            if (request.seconds < 0) return this.fail("it does not answer");
        }
    }

    set opacity(value) {
        (this.#picture ?? this.#element).style.opacity = String(value);
    }

    /// Removes the frame, and with it all that runs in it.
    remove() {
        this.#element.remove();
        this.#picture?.remove();
        this.#abandon(new Error("it was stopped"));
        if (this.#port) this.#port.onmessage = null;
        this.#port?.close();
        this.#port = null;
        const requests = [...this.#pending.values()];
        this.#pending.clear();
        for (const request of requests) request.reject(new Error("it was stopped"));
    }

    fail(message) {
        if (!this.#element.isConnected) return;
        this.remove();
        this.#onfailure(message);
    }
}
