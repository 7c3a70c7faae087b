// The presets of the user: files of Butterchurn in the folder of `hemiola presets add`, and those that were dropped on the page, which this
// browser keeps. They run in a frame of their own.

import { PresetFrame } from "./presetframe.js";
import { ResolutionControl } from "./resolution.js";

const FOLDER = "presets/";
const MAXIMUM_PRESETS = 9000;
// All names go to Hemiola in one message.
const MAXIMUM_NAME_BYTES = 900_000;
const MAXIMUM_BYTES = { json: 1 << 20, js: 32 << 20 };

/// What the browser keeps of dropped files; null where it keeps nothing: without https, except on this machine.
const openStore = async () => (await window.caches?.open("hemiola-presets").catch(() => null)) ?? null;

/// Address of a file by its name.
const address = (file) => FOLDER + encodeURIComponent(file);

/// Options: `place(element)` puts the frame above the stage, `isOwn(name)` (whether the stage has a preset of this name), `sampleRate()`,
/// `adaptive` (false: fixed resolution), `onchange` (the names are others), `onstopped({preset, message})` (a preset or file failed).
export class UserPresets {
    /// Names of the presets that can be loaded.
    names = [];
    /// How much the frame covers the stage: 0…1.
    opacity = 0;
    /// Whether the pictures are too slow also at the lowest resolution.
    isTooSlow = false;
    #options;
    /// Readers of the files, by their names: of the presets without the extension.
    #presets = new Map();
    #scripts = new Map();
    #dropped = new Set();
    #packed = new Set();
    /// What failed: names of presets and of scripts, and why.
    #stopped = new Map();
    #hasVisualizer = false;
    #frame = null;
    #opening = null;
    /// The script that runs, the preset whose pictures are drawn, and the one that is to be shown.
    #script = null;
    #shown = null;
    #wanted = null;
    #loading = Promise.resolve();
    #turn = 0;
    #isShown = false;
    #fadeSeconds = 0;
    #resolution = null;

    constructor(options) {
        this.#options = options;
    }

    get hasDropped() {
        return this.#dropped.size > 0;
    }

    /// Reads which files there are. Those of the folder win over dropped ones with the same name.
    async refresh() {
        const response = await fetch(FOLDER, { cache: "no-store" }).catch(() => null);
        const files = response?.ok ? await response.json() : [];
        for (const file of files) {
            if (this.#knows(file) && !this.#dropped.delete(file)) continue;
            this.#set(file, async () => {
                const response = await fetch(address(file));
                if (!response.ok) throw new Error(`status ${response.status}`);
                return response.text();
            });
        }
        const store = await openStore();
        for (const { url } of (await store?.keys()) ?? []) {
            const file = decodeURIComponent(url.slice(url.lastIndexOf("/") + 1));
            if (this.#knows(file)) continue;
            this.#set(file, async () => (await store.match(address(file))).text());
            this.#dropped.add(file);
        }
        await this.#update();
    }

    /// Adds files: presets, packs, Butterchurn. Returns the names of those that were added (of a preset without extension), the names of
    /// the presets in them, and why the others were refused.
    async add(files) {
        const added = [];
        const failures = [];
        for (const file of files) {
            try {
                added.push(await this.#add(file));
            } catch (error) {
                failures.push(error.message);
            }
        }
        const before = new Set(this.names);
        await this.#update();
        for (const name of added.filter((name) => this.#stopped.has(name))) {
            failures.push(`${name}: ${this.#stopped.get(name)}`);
            await this.#forget(name);
        }
        const kept = added.filter((name) => !this.#stopped.has(name));
        const names = new Set([...kept.filter((name) => this.names.includes(name)), ...this.names.filter((name) => !before.has(name))]);
        return { added: kept, names: [...names], failures };
    }

    /// Adds a file. Returns its name, of a preset without the extension. Throws where it is none that can be used.
    async #add(file) {
        const kind = file.name.slice(file.name.lastIndexOf(".") + 1).toLowerCase();
        if (["milk", "milk2"].includes(kind)) throw new Error(`${file.name}: convert it to .json first, with milkdrop-preset-converter`);
        if (!Object.hasOwn(MAXIMUM_BYTES, kind)) throw new Error(`${file.name}: not a preset of Butterchurn (.json), nor a pack (.js)`);
        if (file.size > MAXIMUM_BYTES[kind]) throw new Error(`${file.name}: larger than ${MAXIMUM_BYTES[kind] >> 20} MiB`);
        const text = await file.text();
        const name = presetName(file.name);
        if (kind === "json" && !JSON.parse(text)?.baseVals) throw new Error(`${file.name}: not a preset of Butterchurn`);
        if (this.#options.isOwn(name)) throw new Error(`${file.name}: the page has a preset of its own with this name`);
        this.#stopped.delete(name);
        this.#set(file.name, async () => text);
        this.#dropped.add(file.name);
        const store = await openStore();
        await store?.put(address(file.name), new Response(text)).catch(() => {});
        return name;
    }

    /// Forgets a dropped script, in this browser too.
    async #forget(file) {
        this.#scripts.delete(file);
        this.#dropped.delete(file);
        const store = await openStore();
        await store?.delete(address(file)).catch(() => false);
    }

    /// Forgets the dropped files, in this browser too.
    async forgetDropped() {
        await window.caches?.delete("hemiola-presets").catch(() => false);
        for (const file of this.#dropped) {
            this.#presets.delete(presetName(file));
            this.#scripts.delete(file);
        }
        this.#dropped.clear();
        this.close();
        await this.refresh();
    }

    #knows(file) {
        return isPreset(file) ? this.#presets.has(presetName(file)) : this.#scripts.has(file);
    }

    #set(file, read) {
        if (isPreset(file)) {
            this.#presets.set(presetName(file), read);
        } else {
            this.#scripts.set(file, read);
            // The frame starts again with all scripts.
            this.close();
        }
    }

    /// Lists the presets again. The names in packs are known when they ran.
    async #update() {
        if (this.#scripts.size > 0) {
            try {
                await this.#open();
            } catch {
                // A script was stopped, and the others run again; else the files cannot be read now.
                return this.#opening ? this.#update() : undefined;
            }
        }
        const all = this.#hasVisualizer ? new Set([...this.#presets.keys(), ...this.#packed]) : new Set();
        let bytes = 0;
        const fits = (name) => (bytes += 4 + 3 * name.length) < MAXIMUM_NAME_BYTES;
        const names = [...all].filter((name) => !this.#stopped.has(name)).slice(0, MAXIMUM_PRESETS).filter(fits);
        if (names.length !== this.names.length || names.some((name, index) => name !== this.names[index])) {
            this.names = names;
            this.#options.onchange();
        }
        if (!this.#isShown && this.names.includes(this.#wanted)) this.load(this.#wanted, 0);
    }

    #open() {
        if (!this.#opening) {
            const opening = this.#start();
            this.#opening = opening;
            opening.catch(() => this.#opening === opening && this.close());
        }
        return this.#opening;
    }

    async #start() {
        const frame = new PresetFrame(this.#options.place, (message) => this.#fail(this.#script ?? this.#shown ?? this.#wanted, message));
        this.#frame = frame;
        await frame.start();
        this.#packed.clear();
        this.#hasVisualizer = false;
        for (const [file, read] of this.#scripts) {
            if (this.#stopped.has(file)) continue;
            const code = await read();
            if (this.#frame !== frame) throw new Error("it was stopped");
            this.#script = file;
            try {
                const { names, isVisualizer } = await frame.run(code);
                for (const name of names) this.#packed.add(name);
                this.#hasVisualizer ||= isVisualizer;
            } catch (error) {
                if (this.#frame !== frame) throw error;
                this.#stopped.set(file, error.message);
                this.#options.onstopped({ preset: file, message: error.message });
            }
            this.#script = null;
        }
        return frame;
    }

    /// Loads a preset, and shows it when it is ready: blended in its own way with another one of the user. One after the other.
    load(name, blendSeconds) {
        this.#turn += 1;
        this.#wanted = name;
        const turn = this.#turn;
        this.#loading = this.#loading
            .then(() => turn === this.#turn && this.#load(name, blendSeconds, turn))
            .catch((error) => turn === this.#turn && this.#fail(name, error.message));
    }

    async #load(name, blendSeconds, turn) {
        let text = "null";
        let frame = null;
        try {
            text = (await this.#presets.get(name)?.()) ?? text;
            frame = await this.#open();
        } catch (error) {
            // The file or the server is missing: not the preset's fault. Or a script was stopped, and `#update` loads the preset again.
            if (turn !== this.#turn || this.#opening) return;
            this.#wanted = null;
            this.#options.onstopped({ preset: name, message: `its file cannot be read: ${error.message}` });
            return;
        }
        const preset = JSON.parse(text);
        if (turn !== this.#turn) return;
        try {
            await frame.load(name, preset, this.#isShown ? blendSeconds : 0, this.#options.sampleRate());
        } catch (error) {
            if (this.#frame === frame) throw error;
        }
        if (this.#frame !== frame) return;
        this.#shown = name;
        if (turn !== this.#turn) return;
        if (!this.#isShown) this.#resolution = this.#options.adaptive ? new ResolutionControl(false) : null;
        this.#isShown = true;
        this.#fadeSeconds = blendSeconds;
    }

    /// Uncovers the stage.
    hide(blendSeconds) {
        this.#turn += 1;
        this.#wanted = null;
        this.#isShown = false;
        this.#fadeSeconds = blendSeconds;
    }

    /// Draws a picture of at most this size.
    render(frame, width, height) {
        if (!this.#frame) return;
        this.#frame.pass(frame.dt);
        const step = this.#fadeSeconds > 0 ? frame.dt / this.#fadeSeconds : 1;
        const opacity = Math.min(1, Math.max(0, this.opacity + (this.#isShown ? step : -step)));
        if (opacity !== this.opacity && this.#frame) this.#frame.opacity = opacity;
        this.opacity = opacity;
        if (opacity === 0) return;
        const scale = this.#resolution?.scale ?? 1;
        this.#frame?.draw(frame, Math.max(16, Math.round(width * scale)), Math.max(16, Math.round(height * scale)), () => {
            if (!this.#isShown) return;
            this.#resolution?.measure(performance.now());
            this.isTooSlow = this.#resolution?.isTooSlow === true;
        });
    }

    /// Removes the frame. It is made again for the next preset.
    close() {
        this.#frame?.remove();
        this.#frame = null;
        this.#opening = null;
        this.#script = null;
        this.#shown = null;
        this.#isShown = false;
        this.opacity = 0;
        this.isTooSlow = false;
    }

    /// Names what failed, which is not loaded again, and starts a new frame.
    #fail(name, message) {
        this.close();
        if (!name || this.#stopped.has(name)) return;
        this.#stopped.set(name, message);
        this.names = this.names.filter((other) => other !== name);
        if (this.#wanted === name) this.#wanted = null;
        this.#options.onstopped({ preset: name, message });
        this.#options.onchange();
        this.#update();
    }
}

const isPreset = (file) => /\.json$/i.test(file);
const presetName = (file) => file.replace(/\.json$/i, "");
