// The sliders for the speed and the delay of the picture.

import { element, setText, showRangeFill } from "./dom.js";

function show(name, value, text) {
    const input = element(name);
    input.value = value;
    input.setAttribute("aria-valuetext", text);
    setText(element(`${name}-value`), text);
    showRangeFill(input);
}

/** The speed of the presets, 0.1…1, which Hemiola and the user can change. */
export class SpeedSlider {
    constructor() {
        this.set(typeof window.initialSpeed === "number" ? window.initialSpeed : 1);
        const input = element("speed");
        input.addEventListener("input", () => {
            this.set(input.valueAsNumber);
            window.webkit.messageHandlers.speedHandler.postMessage(Math.round(this.speed * 100) / 100);
        });
    }

    set(value) {
        if (!Number.isFinite(value)) return;
        this.speed = Math.min(1, Math.max(0.1, value));
        show("speed", this.speed, `${this.speed.toFixed(2)}×`);
    }
}

/** The delay of the picture, which this browser stores. */
export function connectDelaySlider(hemiola) {
    const showDelay = () => {
        const milliseconds = Math.round(hemiola.delay * 1000);
        show("delay", milliseconds, `${milliseconds} ms`);
    };
    showDelay();
    element("delay").addEventListener("input", (event) => (hemiola.delay = event.target.valueAsNumber / 1000));
    hemiola.addEventListener("delay", showDelay);
}
