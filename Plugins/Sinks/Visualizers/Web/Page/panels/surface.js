// A canvas that follows its size on the page, and the colours of the page's style sheet.

import { make } from "../app/dom.js";

/** Colours for canvases, read from the custom properties of the style sheet. */
export const theme = { dark: true, version: 0 };

const COLOURS = ["text", "secondary", "grid", "data", "data-soft", "data-fill", "beat", "beat-soft", "track"];

/** Reads the colours again after a change between dark and light. */
export function readTheme() {
    const style = getComputedStyle(document.documentElement);
    for (const name of COLOURS) theme[name] = style.getPropertyValue(`--${name}`).trim();
    theme.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    theme.dark = !document.documentElement.classList.contains("light");
    theme.version += 1;
}

readTheme();

/** Ratio of device pixels to CSS pixels; higher ones than 2 cost time and are not visible. */
export const pixelRatio = () => Math.min(2, devicePixelRatio || 1);

/** The area of a display above and beside the labels of its axes. */
export const plotArea = ({ width, height }) => ({ x: 30, y: 6, width: width - 40, height: height - 26 });

/** Base of the 2D displays: `layout()` runs after a change of size or colours, `paint()` for every picture. */
export class Surface {
    /** `body` gets the canvas; `source` is that of the panels. */
    constructor(body, className, label, source) {
        const canvas = make("canvas", { class: className, role: "img", "aria-label": label });
        body.append(canvas);
        this.source = source;
        this.canvas = canvas;
        // The processor draws these small pictures: a GPU that is computed by software takes several times as long.
        this.context = canvas.getContext("2d", { willReadFrequently: true });
        this.width = 0;
        this.height = 0;
        this.version = -1;
        this.background = document.createElement("canvas");
        this.background.getContext("2d", { willReadFrequently: true });
        new ResizeObserver(() => (this.version = -1)).observe(canvas);
    }

    /** Draws the background, which is kept, on a context in CSS pixels. */
    layout(context) {}

    /** Draws a picture. */
    paint(context, frame) {}

    /** Draws the display. Without a visible area nothing is done. */
    draw(frame) {
        if (this.version !== theme.version || this.ratio !== pixelRatio()) this.resize();
        if (this.width === 0 || this.height === 0) return;
        this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        this.paint(this.context, frame);
    }

    resize() {
        const { canvas, background } = this;
        this.version = theme.version;
        this.ratio = pixelRatio();
        this.width = canvas.clientWidth;
        this.height = canvas.clientHeight;
        if (this.width === 0 || this.height === 0) return;
        for (const target of [canvas, background]) {
            target.width = Math.round(this.width * this.ratio);
            target.height = Math.round(this.height * this.ratio);
        }
        const context = background.getContext("2d");
        context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        context.font = theme.font;
        this.layout(context);
    }

    /** Replaces the picture by the background, which `layout` has drawn. */
    clear(context) {
        context.clearRect(0, 0, this.width, this.height);
        context.drawImage(this.background, 0, 0, this.width, this.height);
    }
}
