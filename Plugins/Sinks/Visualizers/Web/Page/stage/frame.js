// Runs in the frame, an origin of its own without network: the only place where presets and visualizers of others run. The page, which runs
// in another process in most browsers, checks what arrives from here, and removes the frame where it does not answer.

/// What the code of a file exports: as CommonJS or UMD, else as an ES module.
async function evaluate(code) {
    let run;
    try {
        run = new Function("module", "exports", "define", code);
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        return import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    }
    const module = { exports: {} };
    run.call(window, module, module.exports, undefined);
    return module.exports;
}

class Presets {
    #library = null;
    #visualizer = null;
    #packed = new Map();
    #images = {};
    #size = "";
    #picture = Promise.resolve();
    #bytes = [new Uint8Array(1024), new Uint8Array(1024), new Uint8Array(1024)];
    #canvas = /** @type {HTMLCanvasElement} */ (document.getElementById("canvas"));

    /// Runs the file of a visualizer or of a pack. Returns the names of the presets in it, and whether it is a visualizer.
    async run({ code }) {
        const exported = await evaluate(code);
        const names = [];
        let isVisualizer = false;
        for (const value of new Set([exported, exported?.default])) {
            if (typeof value?.createVisualizer === "function") {
                this.#library = value;
                isVisualizer = true;
                continue;
            }
            const pack = typeof value?.getPresets === "function" ? value.getPresets() : value;
            for (const [name, entry] of Object.entries(pack ?? {})) {
                if (entry?.baseVals) {
                    this.#packed.set(name, entry);
                    names.push(name);
                } else if (typeof entry?.data === "string") {
                    this.#images[name] = entry;
                }
            }
        }
        return { names, isVisualizer };
    }

    /// Shows a preset: one of a pack, unless its values are given.
    async load({ name, preset, blend, sampleRate }) {
        if (!this.#library) throw new Error("Butterchurn is missing");
        if (!this.#visualizer) {
            // It gets its samples from the page. The context only says their rate.
            const context = new OfflineAudioContext({ numberOfChannels: 2, length: 1, sampleRate });
            this.#visualizer = this.#library.createVisualizer(context, this.#canvas, { width: 640, height: 360, pixelRatio: 1 });
            this.#visualizer.loadExtraImages?.(this.#images);
            this.#size = "";
        }
        await this.#visualizer.loadPreset(preset ?? this.#packed.get(name), blend);
    }

    /// Draws a picture, when the browser shows one.
    async draw({ seconds, left, right, mono, width, height }) {
        this.#picture = this.#picture.then(() => new Promise((resolve) => requestAnimationFrame(() => resolve())));
        await this.#picture;
        if (this.#size !== `${width} ${height}`) {
            this.#size = `${width} ${height}`;
            this.#canvas.width = width;
            this.#canvas.height = height;
            this.#visualizer.setRendererSize(width, height);
        }
        [mono, left, right].forEach((samples, index) => {
            for (let i = 0; i < 1024; i++) this.#bytes[index][i] = Math.min(255, Math.max(0, Math.round(128 + 127 * samples[i])));
        });
        const [timeByteArray, timeByteArrayL, timeByteArrayR] = this.#bytes;
        this.#visualizer.render({ elapsedTime: seconds, audioLevels: { timeByteArray, timeByteArrayL, timeByteArrayR } });
    }
}

/// Answers the messages of the page: {id, action, …} with {id, value} or {id, error}.
export function connect(port) {
    const presets = new Presets();
    const describe = (error) => String(error?.message ?? error).slice(0, 500);
    const fail = (error) => port.postMessage({ error: describe(error) });
    window.addEventListener("error", (event) => fail(event.error ?? event.message));
    window.addEventListener("unhandledrejection", (event) => fail(event.reason));
    port.onmessage = async ({ data }) => {
        try {
            port.postMessage({ id: data.id, value: await presets[data.action](data) });
        } catch (error) {
            port.postMessage({ id: data.id, error: describe(error) });
        }
    };
}
