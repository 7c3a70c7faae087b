// Draws a picture whenever the browser asks for one: the stage, and the panels while they are visible. The picture can be frozen, and dark.

import { element } from "./dom.js";
import { pixelRatio } from "../panels/surface.js";

// The shortest time between two plain pictures without a beat: of 60 a second, every second one. The processor draws them, and has time left
// for Hemiola and other pages.
const PLAIN_MILLISECONDS = 25;

export class Picture {
    /** `parts`: hemiola, stage, analysis, beats, drums, panels, visibility, speed, isSlow, fixed; `drawn(frame)` is called after each picture. */
    constructor(parts, drawn) {
        this.parts = parts;
        this.drawn = drawn;
        this.isFrozen = false;
        this.isDark = false;
        this.lastPicture = this.lastRequest = performance.now();
        this.interval = 16;
        new ResizeObserver(() => this.resize()).observe(element("main"));
        this.resize();
        requestAnimationFrame(() => this.draw());
    }

    resize() {
        // A canvas with another size is empty.
        if (this.isFrozen) return;
        const { clientWidth, clientHeight } = element("main");
        const { stage, fixed } = this.parts;
        stage.resize(clientWidth, clientHeight, fixed ? 1 : pixelRatio());
    }

    freeze(isFrozen) {
        this.isFrozen = isFrozen;
        element("freeze").hidden = !isFrozen;
        if (!isFrozen) this.resize();
    }

    black(isDark) {
        this.isDark = isDark;
        element("blackout").hidden = !isDark;
        document.documentElement.classList.toggle("blackout", isDark);
        if (isDark) this.parts.visibility.fade();
    }

    draw() {
        requestAnimationFrame(() => this.draw());
        const { hemiola, stage, analysis, beats, drums, panels, visibility, speed, isSlow } = this.parts;
        const now = performance.now();
        this.interval += 0.1 * (Math.min(100, now - this.lastRequest) - this.interval);
        this.lastRequest = now;
        const time = hemiola.toStreamTime(now) - hemiola.delay;
        // A beat belongs to the picture that is nearest to it.
        const beatTime = time + this.interval / 2000;
        const beat = beats.due(beatTime);
        if (stage.isPlain && !beat && now - this.lastPicture < PLAIN_MILLISECONDS) return;
        const dt = Math.min(0.5, (now - this.lastPicture) / 1000);
        this.lastPicture = now;
        const frame = analysis.update(hemiola.connected ? time : NaN, dt, speed.speed, isSlow);
        beats.describe(beatTime, frame.beat);
        frame.drums = drums.at(beatTime);
        if (!hemiola.connected) frame.silent = true;
        if (!this.isFrozen) stage.render(frame);
        if (visibility.isVisible) panels.draw(frame);
        if (beat) hemiola.dispatchEvent(new CustomEvent("beatdrawn", { detail: { t: beat.t, time: performance.now() } }));
        this.drawn(frame);
    }
}
