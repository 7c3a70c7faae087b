// Buttons for the tempo. Each is shown only if Hemiola declares its control.

import { element, setText, showMessage } from "./dom.js";

const BUTTONS = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-control]"));
const NUDGE_S = 0.01;

export class TempoControl {
    constructor(hemiola) {
        this.hemiola = hemiola;
        this.bpm = null;
        this.controls = new Map();
        this.setLocked(false);
        this.setLimited(false);
        this.showButtons();
        for (const button of BUTTONS) button.addEventListener("click", () => this.send(button));
        hemiola.addEventListener("hello", (event) => {
            this.controls = new Map((event.detail.controls ?? []).map((control) => [control.name, control]));
            this.setLocked(false);
            this.setLimited(false);
            this.showButtons();
        });
        hemiola.addEventListener("control", (event) => {
            if (event.detail.control === "lockTempo") this.setLocked(event.detail.bpm != null);
            if (event.detail.control === "resetTempo") this.setLocked(false);
            if (event.detail.control === "tempoRange") this.setLimited(event.detail.min_bpm != null || event.detail.max_bpm != null);
        });
    }

    showButtons() {
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
            const bpm = this.locked ? null : this.bpm;
            return this.request({ type, bpm }, () => this.setLocked(bpm !== null));
        }
        if (type === "tempoRange") {
            if (this.limited) return this.request({ type }, () => this.setLimited(false));
            if (this.bpm === null) return showMessage("There is no tempo yet.");
            const range = { min_bpm: Math.round(this.bpm / Math.SQRT2), max_bpm: Math.round(this.bpm * Math.SQRT2) };
            return this.request({ type, ...range }, () => this.setLimited(true));
        }
        if (type === "nudge") return this.request(this.nudge(Number(button.dataset.direction)));
        return this.request({ type });
    }

    /** The control `nudge` with its first numeric field, in the declared unit. */
    nudge(direction) {
        const field = this.controls.get("nudge").fields?.find((field) => field.type === "number" || field.type === "integer");
        if (!field) return { type: "nudge" };
        return { type: "nudge", [field.name]: direction * (field.unit === "ms" ? 1000 * NUDGE_S : NUDGE_S) };
    }

    async request(message, done) {
        try {
            const reply = await this.hemiola.send(message);
            if (reply.ok) done?.();
            else showMessage(reply.error);
        } catch (error) {
            showMessage(`Not sent: ${error.message}.`);
        }
    }
}
