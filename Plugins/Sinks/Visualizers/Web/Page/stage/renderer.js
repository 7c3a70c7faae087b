// Draws presets with WebGL2: one, or two while they are blended, in a resolution that the GPU can draw.
//
// Presets draw linear light with premultiplied alpha into floating-point targets.

import { Compositor } from "./compositor.js";
import { MusicTextures } from "../analysis/music.js";
import { Player } from "./player.js";
import { presets } from "./visuals/index.js";
import { ResolutionControl } from "./resolution.js";
import { enableFloatTargets, Graphics } from "./webgl.js";

const MAXIMUM_PIXELS = 2560 * 1440;

export class Renderer {
    /// The name of the preset that was loaded last.
    loaded = null;
    /// Whether it has failed. It is then of no use to draw on.
    hasFailed = false;
    #from = null;
    #to = null;
    #progress = 1;
    #blendSeconds = 0;
    #life = new AbortController();

    /// `frame`: the one that `render` is called with. Options: those of the stage.
    constructor(gl, frame, options) {
        this.gl = gl;
        this.frame = frame;
        this.options = { presets, seed: 1, adaptive: true, ...options };
        this.resolution = this.options.adaptive ? new ResolutionControl() : null;
        const { signal } = this.#life;
        gl.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault(), { signal });
        gl.canvas.addEventListener("webglcontextrestored", () => {
            this.#from = this.#to = null;
            this.#build();
            if (this.loaded) this.load(this.loaded);
        }, { signal });
        this.#measure();
        this.#build();
    }

    get isTooSlow() { return this.resolution?.isTooSlow === true; }

    get presets() { return this.options.presets; }

    /// Sets the size of the pictures from the canvas's size and the scale.
    #measure() {
        const { width, height } = this.gl.canvas;
        // A preset is made for the full size, and resized for the trial.
        const share = this.#to ? this.resolution?.scale ?? 1 : 1;
        const scale = Math.min(1, Math.sqrt(MAXIMUM_PIXELS / Math.max(1, width * height))) * share;
        this.width = Math.max(16, Math.round(width * scale));
        this.height = Math.max(16, Math.round(height * scale));
    }

    #build() {
        const { gl, width, height } = this;
        enableFloatTargets(gl);
        this.shared = { uniforms: { uTransparent: this.options.transparent ? 1 : 0 } };
        gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
        this.graphics = new Graphics(gl, this.shared);
        this.textures = new MusicTextures(this.graphics);
        this.compositor = new Compositor(this.graphics, width, height, this.options);
        this.textures.update(this.frame, this.shared.uniforms);
    }

    /// What `body` returns; null if it throws. Unless the context is lost, the preset is at fault.
    #attempt({ name }, body) {
        try {
            return body();
        } catch (error) {
            if (this.gl.isContextLost()) return null;
            this.hasFailed ||= name === this.loaded;
            this.options.onerror({ preset: name, message: `preset ${name}: ${error.message}` });
            return null;
        }
    }

    /// Shows a preset, at once or blended.
    load(name, blendSeconds = 0) {
        this.loaded = name;
        if (this.gl.isContextLost()) return;
        const { width, height } = this;
        const preset = this.presets.find((candidate) => candidate.name === name);
        const next = this.#attempt(preset, () => new Player(this.gl, this.shared, preset, { ...this.options, width, height }));
        if (!next) return;
        // During a blend, the preset that shows more of the picture stays as the one to blend from.
        const [stays, leaves] = this.#progress < 0.5 ? [this.#from, this.#to] : [this.#to, this.#from];
        leaves?.dispose();
        this.#from = blendSeconds > 0 ? stays : null;
        if (this.#from !== stays) stays.dispose();
        this.#to = next;
        this.#progress = this.#from ? 0 : 1;
        this.#blendSeconds = blendSeconds;
    }

    applySize() {
        const before = [this.width, this.height];
        this.#measure();
        if (this.gl.isContextLost() || (before[0] === this.width && before[1] === this.height)) return;
        this.compositor.resize(this.width, this.height);
    }

    /// Draws the picture of a player. Returns whether it can go on.
    #renderPlayer(player, frame) {
        const isDrawn = this.#attempt(player.preset, () => {
            player.render(frame, this.width, this.height);
            return true;
        });
        return isDrawn || this.gl.isContextLost();
    }

    render(frame) {
        const { gl, resolution } = this;
        if (gl.isContextLost()) return;
        const isTrial = this.#to !== null && resolution?.isTrial;
        const start = performance.now();
        if (isTrial || resolution?.measure(start)) this.applySize();
        this.#draw(frame);
        if (!isTrial) return;
        // Reading a pixel waits until the picture is computed.
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
        if (resolution.tried(performance.now() - start)) this.applySize();
    }

    #draw(frame) {
        this.textures.update(frame, this.shared.uniforms);
        if (this.#to) this.#renderPlayer(this.#to, frame);
        if (this.#from) {
            this.#progress += frame.dt / this.#blendSeconds;
            if (!this.#renderPlayer(this.#from, frame) || this.#progress >= 1) {
                this.#from.dispose();
                this.#from = null;
                this.#progress = 1;
            }
        }
        this.compositor.draw(this.#from, this.#to, this.#progress, frame.dt);
    }

    /// Deletes all objects, and gives the context back.
    dispose() {
        this.#life.abort();
        for (const owner of [this.#from, this.#to, this.graphics]) owner?.dispose();
        this.gl.getExtension("WEBGL_lose_context")?.loseContext();
    }
}
