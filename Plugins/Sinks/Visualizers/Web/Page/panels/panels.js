// The analysis panels: which are shown, and their displays.

import { BandMeters, BeatDial } from "./rhythm.js";
import { ChromaRing, HarmonyTexts } from "./chroma.js";
import { element, setText } from "../app/dom.js";
import { SpectrogramDisplay } from "./spectrogram.js";
import { SpectrumDisplay } from "./spectrum.js";
import { WaveformDisplay } from "./waveform.js";

// As in the style sheet.
const NARROW_WIDTH = 720;

export class Panels {
    constructor(analysis, storage) {
        this.storage = storage;
        const spectrogram = new SpectrogramDisplay(element("spectrogram"));
        analysis.onColumn = (decibels) => spectrogram.add(decibels);
        this.displays = {
            spectrum: [new SpectrumDisplay(element("spectrum"))],
            spectrogram: [spectrogram],
            waveform: [new WaveformDisplay(element("waveform"))],
            rhythm: [new BeatDial(element("dial")), new BandMeters(element("bands"))],
            harmony: [new ChromaRing(element("chroma")), new HarmonyTexts()],
        };
        // The panels that the user has selected, and those that the stream has nothing for.
        this.shown = new Set();
        this.unavailable = new Set(["harmony"]);
        this.buttons = [...document.querySelectorAll("[data-panel]")];
        for (const button of this.buttons) {
            button.addEventListener("click", () => {
                this.toggle(button.dataset.panel);
                this.store();
            });
        }
        this.isNarrow = null;
        new ResizeObserver(() => this.resized()).observe(document.body);
        this.resized();
        this.confidence = null;
    }

    /** Wide and narrow pages have their own selection. */
    resized() {
        const isNarrow = document.body.clientWidth <= NARROW_WIDTH;
        if (isNarrow === this.isNarrow) return;
        this.isNarrow = isNarrow;
        this.restore();
    }

    get key() {
        return this.isNarrow ? "hemiola.panels.narrow" : "hemiola.panels";
    }

    restore() {
        let names = null;
        try {
            names = JSON.parse(this.storage?.getItem(this.key) ?? "null");
        } catch {
            // Damaged storage: the default follows.
        }
        const shown = Array.isArray(names) ? names : this.isNarrow ? ["spectrum", "rhythm", "harmony"] : Object.keys(this.displays);
        for (const button of this.buttons) this.set(button.dataset.panel, shown.includes(button.dataset.panel));
    }

    store() {
        try {
            this.storage?.setItem(this.key, JSON.stringify([...this.shown]));
        } catch {
            // Full or disabled storage: the selection lasts for this page view.
        }
    }

    toggle(name) {
        this.set(name, !this.shown.has(name));
    }

    /** Shows a panel and its button only while the stream has something for it. */
    setAvailable(name, isAvailable) {
        if (isAvailable) this.unavailable.delete(name);
        else this.unavailable.add(name);
        this.set(name, this.shown.has(name));
    }

    set(name, shown) {
        if (shown) this.shown.add(name);
        else this.shown.delete(name);
        const isAvailable = !this.unavailable.has(name);
        element(`panel-${name}`).hidden = !shown || !isAvailable;
        const button = this.buttons.find((button) => button.dataset.panel === name);
        button.hidden = !isAvailable;
        button.setAttribute("aria-pressed", String(shown));
    }

    /** Draws the visible panels. */
    draw(frame, values) {
        for (const name in this.displays) for (const display of this.displays[name]) display.draw(frame, values);
        const confidence = frame.beat.bpm === null ? -1 : Math.round(20 * frame.beat.confidence) * 5;
        if (confidence !== this.confidence) {
            this.confidence = confidence;
            setText(element("confidence"), confidence < 0 ? "No beat" : `Confidence ${confidence} %`);
        }
    }
}
