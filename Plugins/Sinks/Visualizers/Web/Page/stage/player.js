// A preset that runs, with its target.

import { Graphics, seededRandom } from "./webgl.js";

export class Player {
    constructor(gl, shared, preset, { width, height, seed, reducedMotion }) {
        this.preset = preset;
        this.look = { bloom: 0.35, vignette: 0.35, ...preset.look };
        this.graphics = new Graphics(gl, shared);
        try {
            this.target = this.graphics.target(width, height);
            const random = seededRandom(seed, preset.name);
            this.instance = preset.create(gl, { width, height, random, graphics: this.graphics, reducedMotion });
        } catch (error) {
            this.dispose();
            throw error;
        }
    }

    /// Draws a picture of this size.
    render(frame, width, height) {
        if (this.target.width !== width || this.target.height !== height) {
            this.target = this.graphics.resized(this.target, width, height);
            this.instance.resize?.(width, height);
        }
        this.instance.render(frame, this.target);
    }

    /// Deletes everything the preset has created.
    dispose() {
        this.graphics.dispose();
    }
}
