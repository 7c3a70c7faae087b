// Shows the state of connection, device and signal, and announces changes of it.

import { announce, element, onClick, setText } from "./dom.js";
import { describeState, formatDuration } from "./status.js";

// A state that lasts shorter is not announced.
const ANNOUNCE_AFTER_MS = 1200;

export class StatusView {
    constructor(hemiola) {
        this.hemiola = hemiola;
        this.facts = {
            connected: hemiola.connected, closed: false, wasConnected: false, ended: false, device: null, samplesAgeMs: null, silent: true,
            source: "",
        };
        this.samplesTime = null;
        this.kind = null;
        this.since = performance.now();
        this.announced = "";
        hemiola.addEventListener("connection", (event) => {
            const { facts } = this;
            facts.wasConnected ||= facts.connected;
            facts.connected = event.detail.connected;
            facts.closed = event.detail.closed;
            if (facts.connected) facts.device = null;
            this.samplesTime = null;
            this.update();
        });
        hemiola.addEventListener("hello", (event) => {
            const { source } = event.detail;
            this.facts.ended = false;
            this.facts.source = String(source?.name ?? "").split("/").at(-1);
            setText(element("source"), this.facts.source);
            hemiola.send({ type: "status" }).catch(() => {});
            this.update();
        });
        hemiola.addEventListener("device", (event) => this.setDevice(event.detail));
        hemiola.addEventListener("status", (event) => this.setDevice(event.detail.device));
        hemiola.addEventListener("end", () => {
            this.facts.ended = true;
            this.update();
        });
        hemiola.addEventListener("samples", () => (this.samplesTime = performance.now()));
        onClick("reconnect", () => hemiola.connect());
        setInterval(() => this.update(), 500);
        this.update();
    }

    setDevice(device) {
        if (!device) return;
        this.facts.device = device;
        if (device.description) setText(element("source"), device.description);
        this.update();
    }

    setSilent(silent) {
        this.facts.silent = silent;
    }

    update() {
        const now = performance.now();
        const { facts } = this;
        facts.samplesAgeMs = this.samplesTime === null ? null : now - this.samplesTime;
        const state = describeState(facts);
        if (state.detail !== this.detail) {
            this.detail = state.detail;
            this.kind = state.kind;
            this.since = now;
            element("state").dataset.kind = state.kind;
            setText(element("state-text"), state.text);
            setText(element("outage-title"), state.text);
            setText(element("outage-detail"), state.detail);
        }
        const duration = now - this.since;
        // "Connecting" is shown large only if it lasts.
        const visible = state.kind === "outage" || state.kind === "closed" || (!facts.connected && duration > 2000);
        element("outage").hidden = !visible;
        element("reconnect").hidden = facts.connected;
        setText(element("outage-time"), duration < 3000 || facts.closed ? "" : formatDuration(duration / 1000));
        this.announceLater(state, duration);
    }

    /** Announces states that last; "live" only after another state was announced. */
    announceLater({ kind, detail }, duration) {
        if (duration < ANNOUNCE_AFTER_MS || detail === this.announced) return;
        if (kind !== "live" || this.announced !== "") announce(detail);
        this.announced = detail;
    }
}
