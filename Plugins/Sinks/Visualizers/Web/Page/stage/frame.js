// Runs in a worker of the frame, an origin of its own without network and without a document: the only place where presets and visualizers of
// others run. The page, which runs in another thread, checks what arrives from here, and removes the frame where it does not answer.

/** @type {any} */
const scope = globalThis;

/// An image of a data URL, decoded without an element.
class DataImage {
    onload = null;
    bitmap = null;

    set src(address) {
        const [, type, data] = /^data:([^;,]*);base64,(.*)$/s.exec(address) ?? [];
        if (data === undefined) throw new Error("an image is not a data URL");
        const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
        createImageBitmap(new Blob([bytes], { type }), { premultiplyAlpha: "none" }).then((bitmap) => {
            this.bitmap = bitmap;
            this.onload?.();
        });
    }
}

/// What Butterchurn uses of a page: names on the window, canvases, and images for textures.
function makeSurroundings() {
    scope.window = scope;
    scope.Image = DataImage;
    scope.document = {
        createElement(name) {
            if (name !== "canvas") throw new Error(`presets have no element ${name}`);
            return new scope.OffscreenCanvas(1, 1);
        },
    };
    const { texImage2D } = WebGL2RenderingContext.prototype;
    WebGL2RenderingContext.prototype.texImage2D = function (...values) {
        const sources = values.map((value) => (value instanceof DataImage ? value.bitmap : value));
        return Reflect.apply(texImage2D, this, sources);
    };
}

/// An audio context that only says its rate: the visualizer gets its samples from the page.
function audioContext(sampleRate) {
    const node = () => ({ connect() {}, disconnect() {}, getByteTimeDomainData() {}, delayTime: { value: 0 }, gain: { value: 1 } });
    return { sampleRate, currentTime: 0, createDelay: node, createAnalyser: node, createChannelSplitter: node, createGain: node };
}

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
    run.call(scope, module, module.exports, undefined);
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
    #canvas;
    #isFilm = false;

    constructor(canvas) {
        this.#canvas = canvas;
    }

    /// Runs the file of a visualizer or of a pack. Returns the names of the presets in it, and whether it is a visualizer.
    async run({ code }) {
        const exported = await evaluate(code);
        const names = [];
        let isVisualizer = false;
        let hasImages = false;
        for (const value of new Set([exported, exported?.default])) {
            if (typeof value?.createVisualizer === "function") {
                this.#library = value;
                isVisualizer = true;
                continue;
            }
            const read = value?.getPresets ?? value?.getImages;
            const pack = typeof read === "function" ? read.call(value) : value;
            for (const [name, entry] of Object.entries(pack ?? {})) {
                if (entry?.baseVals) {
                    this.#packed.set(name, entry);
                    names.push(name);
                } else if (typeof entry?.data === "string") {
                    this.#images[name] = entry;
                    hasImages = true;
                }
            }
        }
        if (names.length === 0 && !isVisualizer && !hasImages) throw new Error("exports neither Butterchurn nor a preset of it");
        return { names, isVisualizer };
    }

    /// Shows a preset: one of a pack, unless its values are given.
    async load({ name, preset, blend, sampleRate }) {
        if (!this.#library) throw new Error("Butterchurn is missing");
        if (!this.#visualizer) {
            this.#visualizer = this.#library.createVisualizer(audioContext(sampleRate), this.#canvas, { width: 640, height: 360, pixelRatio: 1 });
            this.#visualizer.loadExtraImages?.(this.#images);
            this.#size = "";
        }
        await this.#visualizer.loadPreset(preset ?? this.#packed.get(name), blend);
    }

    /// Begins a film: pictures are made as they are asked for, and returned, and random numbers have a seed.
    film({ seed }) {
        this.#isFilm = true;
        this.#canvas = new scope.OffscreenCanvas(1, 1);
        let state = seed;
        Math.random = () => {
            state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
            return state / 2 ** 32;
        };
    }

    /// Draws a picture, when the browser shows one. Returns it if it is one of a film.
    async draw({ seconds, left, right, mono, width, height }) {
        if (!this.#isFilm) {
            this.#picture = this.#picture.then(() => new Promise((resolve) => requestAnimationFrame(() => resolve())));
            await this.#picture;
        }
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
        return this.#isFilm ? this.#canvas.transferToImageBitmap() : undefined;
    }
}

/// Answers the messages of the page: {id, action, …} with {id, value} or {id, error}.
function connect(port, canvas) {
    const presets = new Presets(canvas);
    const describe = (error) => String(error?.message ?? error).slice(0, 500);
    const fail = (error) => port.postMessage({ error: describe(error) });
    scope.addEventListener("error", (event) => fail(event.error ?? event.message));
    scope.addEventListener("unhandledrejection", (event) => fail(event.reason));
    port.onmessage = async ({ data }) => {
        try {
            const value = await presets[data.action](data);
            port.postMessage({ id: data.id, value }, value instanceof ImageBitmap ? [value] : []);
        } catch (error) {
            port.postMessage({ id: data.id, error: describe(error) });
        }
    };
}

scope.onmessage = ({ data, ports }) => {
    scope.onmessage = null;
    makeSurroundings();
    connect(ports[0], data);
};
