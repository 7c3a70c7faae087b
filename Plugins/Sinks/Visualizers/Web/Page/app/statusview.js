// Shows the state of connection, device and signal, and announces changes of it.

import { announce, element, onClick, setText } from "./dom.js";
import { describeState, formatDuration } from "./status.js";

// A state that lasts shorter is not announced.
const ANNOUNCE_AFTER_MS = 1200;

export class StatusView {
    /** `bare`: a page without controls shows no outage; the stage becomes dark. `changed(kind)`: another state is shown. */
    constructor(hemiola, { bare }, changed) {
        this.hemiola = hemiola;
        this.bare = bare;
        this.changed = changed;
        this.facts = {
            connected: false, closed: false, wasConnected: false, ended: false, device: null, samplesAgeMs: null, silent: true,
            source: "",
        };
        this.samplesTime = null;
        this.sentence = "";
        this.since = performance.now();
        this.announced = "";
        hemiola.addEventListener("connection", (event) => {
            const { facts } = this;
            facts.wasConnected ||= facts.connected;
            facts.connected &&= event.detail.connected;
            facts.closed = event.detail.closed;
            facts.device = null;
            this.samplesTime = null;
            this.update();
        });
        hemiola.addEventListener("hello", (event) => {
            const { source } = event.detail;
            // A connection counts from its first message.
            this.facts.connected = true;
            this.facts.ended = false;
            this.facts.source = String(source?.name ?? "").split("/").at(-1);
            setText(element("source"), this.facts.source);
            hemiola.send({ type: "status" }).catch(() => {});
            this.update();
        });
        hemiola.addEventListener("device", (event) => this.setDevice(event.detail));
        hemiola.addEventListener("status", (event) => this.setDevice(event.detail.device));
        hemiola.addEventListener("end", (event) => {
            // Also sent when Hemiola is stopped.
            this.facts.ended = event.detail.reason === "end-of-input";
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
        const sentence = `${state.text}. ${state.detail}`.trim();
        if (sentence !== this.sentence) {
            this.sentence = sentence;
            this.since = now;
            element("state").dataset.kind = state.kind;
            this.changed(state.kind);
            setText(element("state-text"), state.text);
            setText(element("outage-title"), state.text);
            setText(element("outage-detail"), state.detail);
        }
        const duration = now - this.since;
        // "Connecting" is shown large only if it lasts.
        const visible = state.kind === "outage" || state.kind === "closed" || (!facts.connected && duration > 2000);
        element("reconnect").hidden = facts.connected;
        setText(element("reconnect"), facts.closed ? "Open again" : "Connect now");
        element("outage").hidden = !visible || this.bare;
        if (state.kind === "closed" && !this.isClosed && !this.bare) element("reconnect").focus();
        this.isClosed = state.kind === "closed";
        setText(element("outage-time"), duration < 3000 || facts.closed ? "" : formatDuration(duration / 1000));
        this.announceLater(state.kind, sentence, duration);
    }

    /** Announces states that last; "live" only after another state was announced. */
    announceLater(kind, sentence, duration) {
        if (duration < ANNOUNCE_AFTER_MS || sentence === this.announced) return;
        if (kind !== "live" || this.announced !== "") announce(sentence);
        this.announced = sentence;
    }
}
