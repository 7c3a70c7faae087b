// The preset and its changes: the preset cycler of Hemiola makes them, and the page asks for them and shows what comes.

import { announce, decodeBase64, element, onClick, setText, showMessage } from "./dom.js";
import { PresetList } from "./presetlist.js";

const REQUEST_BLEND_S = 1;

export class PresetControl {
    /** `pinned`: presets that Hemiola requests are ignored until the user changes the preset. */
    constructor(hemiola, stage, { pinned }) {
        this.hemiola = hemiola;
        this.stage = stage;
        this.isPinned = pinned;
        this.favourites = [];
        /** The marks whose replies have not come. */
        this.marking = 0;
        /** The presets to begin with that are not in the list yet, the most wanted one first. */
        this.awaited = [];
        this.list = new PresetList(stage, { load: (name) => this.choose(name), toggle: (name) => this.toggleFavourite(name) });
        onClick("next", () => this.change("nextPreset"));
        onClick("previous", () => this.change("previousPreset"));
        onClick("random", () => this.random());
        onClick("cycle", () => this.change("toggleCycle"));
        onClick("favourite", () => this.toggleFavourite());
        hemiola.addEventListener("connection", () => this.setCycling(false));
        hemiola.addEventListener("hello", ({ detail }) => {
            const visualizer = detail.visualizer ?? {};
            this.setFavourites(visualizer.favourites ?? []);
            this.readCycling(visualizer);
        });
        for (const type of ["status", "preset"]) hemiola.addEventListener(type, (event) => this.readCycling(event.detail));
        hemiola.addEventListener("control", ({ detail }) => {
            if (detail.control === "setFavourites") this.setFavourites(detail.names);
            else if (detail.control === "toggleCycle") hemiola.send({ type: "status" }).catch(() => {});
        });
        // The stage without WebGL has no presets.
        const empty = stage.names.length === 0;
        for (const id of ["presets-button", "favourite", "next", "previous", "random", "cycle"]) element(id).disabled = empty;
    }

    /** Shows and reports the presets when they are others. */
    update() {
        const { names } = this.stage;
        this.list.refresh();
        if (this.stage.current && !names.includes(this.stage.current)) this.showAndReport(this.stage.lastOwn, REQUEST_BLEND_S);
        this.loadAwaited();
        if (this.hemiola.connected) this.hemiola.send({ type: "presetNames", names }).catch(() => {});
    }

    /** A preset failed: one of the page's own replaces it. */
    replace(name) {
        if (this.stage.current === name) this.showAndReport(this.stage.lastOwn, REQUEST_BLEND_S);
    }

    /** Reads whether presets change by themselves: from `cycling`, or from the time of the next change. */
    readCycling({ cycling, next_in_s: nextChange }) {
        if (typeof cycling === "boolean" || typeof nextChange === "number") this.setCycling(cycling ?? true);
    }

    /** Shows the preset that the page's address names, else Hemiola's last one, else the first. */
    loadFirst(named) {
        const stored = window.initialPresetNameB64;
        this.named = named;
        const wanted = [named, stored && new TextDecoder().decode(decodeBase64(stored))].filter(Boolean);
        if (this.loadAwaited(wanted)) return;
        this.load(this.stage.names[0], 0);
        this.awaited = wanted;
        this.show();
    }

    /** Shows the first of these presets that is listed. Those of the user are listed later: the ones before it are still awaited. */
    loadAwaited(awaited = this.awaited) {
        const index = awaited.findIndex((name) => this.stage.names.includes(name));
        if (index < 0 || !this.load(awaited[index], 0)) return false;
        this.awaited = awaited.slice(0, index);
        return true;
    }

    /** All presets are listed: one that the page's address names and that is missing cannot be waited for. */
    listed() {
        if (!this.named || !this.awaited.includes(this.named)) return;
        this.isPinned = false;
        const message = `there is no preset “${this.named}”, which the address of the page names`;
        reportError(new Error(message));
        showMessage(message);
    }

    /** Shows a preset. Returns false if there is none of this name. */
    load(name, blendSeconds) {
        if (!this.stage.load(name, blendSeconds)) return false;
        this.awaited = [];
        this.show();
        return true;
    }

    /** A preset that Hemiola requests. */
    loadForHost(name, blendSeconds) {
        if (this.isPinned) return;
        if (!this.load(name, blendSeconds)) throw new Error(`no preset ${name}`);
    }

    /** A preset that the user or this page has chosen. */
    choose(name, blendSeconds = REQUEST_BLEND_S) {
        this.isPinned = false;
        if (name) this.stage.retry(name);
        if (this.showAndReport(name, blendSeconds)) announce(`Preset ${name}`);
    }

    /** Sends a control of the cycler: `nextPreset`, `previousPreset` or `toggleCycle`. */
    change(type) {
        this.isPinned = false;
        return this.request({ type });
    }

    /** A random preset: of the cycler, else, as with a recording, of this page. */
    async random() {
        this.isPinned = false;
        const reply = await this.hemiola.send({ type: "randomPreset" }).catch(() => null);
        if (reply?.ok) return;
        const others = this.stage.names.filter((name) => name !== this.stage.current);
        this.choose(others[Math.floor(Math.random() * others.length)]);
    }

    /** Sends a control, and says why it has no effect. Returns whether it has one. */
    async request(message) {
        const { ok, error } = await this.hemiola.send(message).catch(({ message }) => ({ ok: false, error: message }));
        if (!ok) showMessage(error);
        return ok;
    }

    setCycling(cycling) {
        element("cycle").setAttribute("aria-pressed", String(cycling));
    }

    /** Shows a preset that Hemiola has not requested, and reports it. Returns false if there is none of this name. */
    showAndReport(name, blendSeconds) {
        if (!name || !this.load(name, blendSeconds)) return false;
        window.webkit.messageHandlers.presetHandler.postMessage(name);
        return true;
    }

    async toggleFavourite(name = this.stage.current) {
        if (!name) return;
        const names = new Set(this.list.favourites);
        const isMarked = !names.delete(name);
        if (isMarked) names.add(name);
        this.showFavourites([...names]);
        this.marking += 1;
        const isKept = await this.request({ type: "setFavourites", names: [...names] });
        this.marking -= 1;
        this.setFavourites(isKept ? [...names] : this.favourites);
        if (isKept) announce(isMarked ? "Added to the favourites" : "Removed from the favourites");
    }

    /** The list of the cycler. It is shown after the replies to all marks of this page, because it lacks those that are under way. */
    setFavourites(names) {
        this.favourites = names;
        if (this.marking === 0) this.showFavourites(names);
    }

    showFavourites(names) {
        this.list.setFavourites(names);
        this.show();
    }

    show() {
        const name = this.stage.current;
        // The name of a preset that is not drawn would be that of another picture.
        const shown = this.stage.showsPlain ? "Plain picture" : name ?? "–";
        setText(element("preset-name"), shown);
        element("stage").setAttribute("aria-label", `Visualizer: ${shown}`);
        element("favourite").setAttribute("aria-pressed", String(Boolean(name) && this.list.favourites.has(name)));
        this.list.markCurrent();
    }
}
