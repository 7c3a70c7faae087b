// Buttons for the tempo. Each is shown only if Hemiola declares its control.

import { element, setText, showMessage } from "./dom.js";

const BUTTONS = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-control]"));
const NUDGE_MS = 10;

export class TempoControl {
    /** `request(message)` sends a control, and says why it has no effect. Its record, which every page gets, shows what it has changed. */
    constructor(hemiola, request) {
        this.request = request;
        this.bpm = null;
        this.begin([]);
        for (const button of BUTTONS) button.addEventListener("click", () => this.send(button));
        hemiola.addEventListener("hello", (event) => this.begin(event.detail.controls ?? []));
        hemiola.addEventListener("control", (event) => {
            if (event.detail.control === "lockTempo") this.setLocked(event.detail.bpm != null);
            if (event.detail.control === "resetTempo") this.setLocked(false);
            if (event.detail.control === "tempoRange") this.setLimited(event.detail.min_bpm != null || event.detail.max_bpm != null);
        });
    }

    /** Begins a stream with these controls. */
    begin(controls) {
        this.controls = new Set(controls.map((control) => control.name));
        this.setLocked(false);
        this.setLimited(false);
        for (const button of BUTTONS) button.hidden = !this.controls.has(button.dataset.control);
    }

    setLocked(locked) {
        this.locked = locked;
        element("lock").setAttribute("aria-pressed", String(locked));
    }

    setLimited(limited) {
        this.limited = limited;
        element("tempo-range").setAttribute("aria-pressed", String(limited));
    }

    /** Shows the tempo of the beat that is drawn. */
    show(bpm) {
        if (bpm === this.bpm) return;
        this.bpm = bpm;
        setText(element("bpm"), bpm === null ? "–" : bpm.toFixed(1));
    }

    tap() {
        if (this.controls.has("tap")) this.request({ type: "tap" });
    }

    send(button) {
        const type = button.dataset.control;
        if (type === "lockTempo") {
            if (!this.locked && this.bpm === null) return showMessage("There is no tempo to lock yet.");
            return this.request({ type, bpm: this.locked ? null : this.bpm });
        }
        if (type === "tempoRange") {
            if (this.limited) return this.request({ type });
            if (this.bpm === null) return showMessage("There is no tempo yet.");
            return this.request({ type, min_bpm: Math.round(this.bpm / Math.SQRT2), max_bpm: Math.round(this.bpm * Math.SQRT2) });
        }
        if (type === "nudge") return this.request({ type, ms: NUDGE_MS * Number(button.dataset.direction) });
        return this.request({ type });
    }
}
