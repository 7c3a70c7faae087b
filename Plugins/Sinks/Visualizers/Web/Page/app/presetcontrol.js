// The preset and its changes. Hemiola's preset cycler is used where the pipeline has one; else this page changes the presets itself.

import { announce, element, onClick, setText, showMessage } from "./dom.js";
import { Playlist, Ratings } from "./playlist.js";
import { PresetList } from "./presetlist.js";

const CYCLE_S = 20;
const CYCLE_BLEND_S = 2.7;
const REQUEST_BLEND_S = 1;

/** Controls of the cycler, and what this page does without it. */
const CONTROLS = { next: "nextPreset", previous: "previousPreset", random: "randomPreset" };

export class PresetControl {
    /** `pinned`: presets that Hemiola requests are ignored until the user changes the preset. */
    constructor(hemiola, stage, { storage, pinned }) {
        this.hemiola = hemiola;
        this.stage = stage;
        this.isPinned = pinned;
        this.ratings = new Ratings(storage);
        this.playlist = new Playlist(stage.names, (name) => this.ratings.share(name));
        this.cycling = false;
        this.elapsed = 0;
        /** The presets to begin with that are not in the list yet, the most wanted one first. */
        this.awaited = [];
        /** Whether the pipeline has a preset cycler, which then changes the presets: null while unknown. */
        this.hasCycler = null;
        this.list = new PresetList(stage.presets, this.ratings, { load: (name) => this.choose(name), marked: () => this.show() });
        onClick("next", () => this.change("next"));
        onClick("previous", () => this.change("previous"));
        onClick("random", () => this.change("random"));
        onClick("cycle", () => this.toggleCycle());
        onClick("favourite", () => this.toggleFavourite());
        hemiola.addEventListener("hello", (event) => {
            // A page that cycles goes on, until the cycler of the new stream changes a preset.
            if (!event.detail.controls?.some((control) => control.name === "nextPreset")) this.hasCycler = false;
            else if (!this.cycling || this.hasCycler) this.hasCycler = null;
            this.readCycling(event.detail.visualizer ?? {});
        });
        for (const type of ["status", "preset"]) hemiola.addEventListener(type, (event) => this.readCycling(event.detail));
        // The stage without WebGL has no presets.
        const empty = stage.names.length === 0;
        for (const id of ["presets-button", "favourite", "next", "previous", "random", "cycle"]) element(id).disabled = empty;
    }

    /** Shows and reports the presets when they are others. */
    update() {
        const { presets, names } = this.stage;
        this.list.presets = presets;
        this.list.refresh();
        this.playlist.names = names;
        if (this.stage.current && !names.includes(this.stage.current)) this.showAndReport(this.stage.lastOwn, REQUEST_BLEND_S);
        this.loadAwaited();
        if (this.hemiola.connected) this.hemiola.send({ type: "presetNames", names }).catch(() => {});
    }

    /** A preset failed: one of the page's own replaces it. */
    replace(name) {
        if (this.stage.current === name) this.showAndReport(this.stage.lastOwn, REQUEST_BLEND_S);
    }

    /** Reads whether Hemiola changes the presets: from `cycling`, or from the time of the next change. Only a cycler gives them a value. */
    readCycling({ cycling, next_in_s: nextChange }) {
        if (typeof cycling !== "boolean" && typeof nextChange !== "number") return;
        this.hasCycler = true;
        this.setCycling(cycling ?? true);
    }

    /** Shows the preset that the page's address names, else Hemiola's last one, else the first. */
    loadFirst(named) {
        const stored = window.initialPresetNameB64;
        const bytes = stored ? Uint8Array.from(atob(stored), (character) => character.charCodeAt(0)) : null;
        this.named = named;
        const wanted = [named, bytes && new TextDecoder().decode(bytes)].filter(Boolean);
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
        this.elapsed = 0;
        this.playlist.shown(name);
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

    async change(kind) {
        this.isPinned = false;
        if (await this.request(CONTROLS[kind])) return;
        const { current } = this.stage;
        if (kind === "next") this.choose(this.playlist.next(current));
        else if (kind === "previous") this.choose(this.playlist.previous(current));
        else this.choose(this.playlist.randomName(current));
    }

    /** Sends a control of the cycler. Returns false if there is no cycler or no connection. */
    async request(type) {
        if (this.hasCycler === false || !this.hemiola.connected) return false;
        try {
            const reply = await this.hemiola.send({ type });
            if (reply.ok) {
                this.hasCycler = true;
            } else if (this.hasCycler) {
                showMessage(reply.error);
                return true;
            } else {
                this.hasCycler = false;
            }
            return reply.ok;
        } catch {
            return false;
        }
    }

    async toggleCycle() {
        if (await this.request("toggleCycle")) {
            this.hemiola.send({ type: "status" }).catch(() => {});
        } else {
            this.setCycling(!this.cycling);
            this.elapsed = 0;
        }
    }

    setCycling(cycling) {
        this.cycling = cycling;
        element("cycle").setAttribute("aria-pressed", String(cycling));
    }

    /** Changes the preset when its time is over, if Hemiola does not. */
    advance(dt) {
        this.elapsed += dt;
        if (!this.cycling || this.hasCycler !== false || this.elapsed < CYCLE_S) return;
        const name = this.playlist.randomName(this.stage.current);
        this.elapsed = 0;
        this.showAndReport(name, CYCLE_BLEND_S);
    }

    /** Shows a preset that Hemiola has not requested, and reports it. Returns false if there is none of this name. */
    showAndReport(name, blendSeconds) {
        if (!name || !this.load(name, blendSeconds)) return false;
        window.webkit.messageHandlers.presetHandler.postMessage(name);
        return true;
    }

    toggleFavourite() {
        if (!this.stage.current) return;
        const isMarked = this.ratings.toggleFavourite(this.stage.current);
        this.list.refreshMarks();
        this.show();
        announce(isMarked ? "Added to the favourites" : "Removed from the favourites");
    }

    /** Rates the current preset one higher or lower. */
    rate(step) {
        const { current } = this.stage;
        if (!current) return;
        const rating = this.ratings.rate(current, this.ratings.of(current) + step);
        this.list.refreshMarks();
        this.show();
        showMessage(`${"★".repeat(rating)}${"☆".repeat(5 - rating)} ${current}`);
    }

    show() {
        const name = this.stage.current;
        // The name of a preset that is not drawn would be that of another picture.
        const shown = this.stage.showsPlain ? "Plain picture" : name ?? "–";
        setText(element("preset-name"), shown);
        element("stage").setAttribute("aria-label", `Visualizer: ${shown}`);
        element("favourite").setAttribute("aria-pressed", String(Boolean(name) && this.ratings.isFavourite(name)));
        this.list.setCurrent(name);
    }
}
