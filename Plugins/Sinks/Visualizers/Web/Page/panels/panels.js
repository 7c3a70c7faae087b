// Makes the panels, and shows those that the user has selected and the stream has something for.

import { element, make, store, stored } from "../app/dom.js";
import { panels } from "./index.js";

// As in the style sheet.
const NARROW_WIDTH = 720;

export class Panels {
    /** `changed()` is called after a change of `needsBatches`. */
    constructor(source, changed) {
        this.needsBatches = false;
        this.selected = new Set();
        this.parts = panels.map((panel) => this.make(panel, source));
        source.hemiola.addEventListener("hello", ({ detail }) => {
            const plugins = detail.analyzers?.map((analyzer) => analyzer.plugin ?? analyzer.id) ?? [];
            for (const part of this.parts) part.isAvailable = isAlways(part) || part.needs.some((plugin) => plugins.includes(plugin));
            this.show();
            const needsBatches = this.parts.some((part) => part.isAvailable && !isAlways(part));
            if (needsBatches === this.needsBatches) return;
            this.needsBatches = needsBatches;
            changed();
        });
        this.isNarrow = null;
        new ResizeObserver(() => this.resized()).observe(document.body);
        this.resized();
    }

    /** Adds the elements of a panel, and its button. */
    make({ id, title, unit = "", grow = 1, narrow = false, needs, create }, source) {
        const button = make("button", { class: "chip", type: "button", "data-panel": id }, title);
        button.addEventListener("click", () => {
            if (!this.selected.delete(id)) this.selected.add(id);
            store(this.key, JSON.stringify([...this.selected]));
            this.show();
        });
        element("panel-buttons").append(button);
        const unitText = make("span", { class: "unit" }, unit);
        const body = make("div", { class: `panel-body ${id}` });
        const figure = make("figure", { id: `panel-${id}`, class: `panel panel-${id}` }, make("figcaption", {}, title, " ", unitText), body);
        figure.style.setProperty("--grow", grow);
        element("panel-row").append(figure);
        return { id, needs, narrow, button, figure, isAvailable: needs.length === 0, display: create(body, unitText, source) };
    }

    /** Wide and narrow pages have their own selection. */
    resized() {
        const isNarrow = document.body.clientWidth <= NARROW_WIDTH;
        if (isNarrow === this.isNarrow) return;
        this.isNarrow = isNarrow;
        let names = null;
        try {
            names = JSON.parse(stored(this.key) ?? "null");
        } catch {
            // Damaged storage: the default follows.
        }
        if (!Array.isArray(names)) names = this.parts.filter((part) => part.narrow || !isNarrow).map((part) => part.id);
        this.selected = new Set(names);
        this.show();
    }

    get key() {
        return this.isNarrow ? "hemiola.panels.narrow" : "hemiola.panels";
    }

    show() {
        for (const { id, button, figure, isAvailable } of this.parts) {
            button.hidden = !isAvailable;
            button.setAttribute("aria-pressed", String(this.selected.has(id)));
            figure.hidden = !isAvailable || !this.selected.has(id);
        }
    }

    draw(frame) {
        for (const { figure, display } of this.parts) if (!figure.hidden) display.draw(frame);
    }
}

const isAlways = ({ needs }) => needs.length === 0;
