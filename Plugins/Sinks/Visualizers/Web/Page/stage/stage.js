// The stage: shows presets, its own and the user's, or the plain picture: where there is no WebGL2, and while presets fail or are too slow.

import { MusicFollower } from "../analysis/music.js";
import { PlainPicture } from "./plainpicture.js";
import { Renderer } from "./renderer.js";
import { enableFloatTargets } from "./webgl.js";

/// Draws on a canvas, which it replaces when it changes to the plain picture or back.
///
/// Options: `transparent` (the background is transparent, premultiplied alpha), `strobe` (no limit of flashes), `seed` (the same seed and
/// frames give the same pictures), `presets` (its own), `user` (`UserPresets`), `reducedMotion` (slow, without pulses), `adaptive` (false:
/// fixed resolution, and presets are never too slow), `onerror` (called with {preset, message} when a preset fails), `onslow`
/// (called with true when presets are drawn less than 20 times a second, so that the plain picture is shown; with false when they are
/// drawn again).
export class Stage {
    /// The name of the preset that is shown, or for which a plain picture stands.
    current = null;
    #canvas;
    #options;
    #user;
    #follower;
    #renderer = null;
    #plain = null;
    #own;
    /// Whether presets of its own, and those of the user, were too slow.
    #slow = { own: false, user: false };
    #reported = false;

    constructor(canvas, options = {}) {
        this.#canvas = canvas;
        this.#options = { transparent: false, onerror: ({ message }) => console.error(message), onslow: (_) => {}, ...options };
        this.#user = options.user;
        this.#follower = new MusicFollower(options);
        this.#start(true);
        this.#own = (this.#renderer?.presets ?? []).map(({ name, description }) => ({ name, description }));
    }

    /// Draws on a canvas without a context: presets, where WebGL2 has targets for them, or the plain picture.
    #start(hasPresets) {
        const { transparent } = this.#options;
        const gl = hasPresets && this.#canvas.getContext("webgl2", {
            alpha: transparent, antialias: false, depth: false, powerPreference: "high-performance",
        });
        if (gl && !enableFloatTargets(gl)) return this.#restart(false);
        this.#renderer = gl ? new Renderer(gl, this.#follower.frame, this.#options) : null;
        this.#plain = gl ? null : new PlainPicture(this.#canvas, { transparent });
    }

    /// A canvas keeps the kind of its first context.
    #restart(hasPresets) {
        this.dispose();
        const next = /** @type {HTMLCanvasElement} */ (this.#canvas.cloneNode());
        this.#canvas.replaceWith(next);
        this.#canvas = next;
        this.#start(hasPresets);
    }

    /// [{name, description}]: its own presets, then the user's; none without WebGL2.
    get presets() {
        const names = this.#own.length > 0 ? this.#user?.names ?? [] : [];
        return [...this.#own, ...names.filter((name) => !this.isOwn(name)).map((name) => ({ name, description: "" }))];
    }

    get names() { return this.presets.map((preset) => preset.name); }

    isOwn(name) { return this.#own.some((preset) => preset.name === name); }

    /// The last one of its own that was loaded, else the first.
    get lastOwn() { return this.#renderer?.loaded ?? this.#own[0]?.name ?? null; }

    /// Whether a preset is one of its own, or of the user.
    #kindOf(name) { return name === null || this.isOwn(name) ? "own" : "user"; }

    get #isSlow() { return this.#slow[this.#kindOf(this.current)]; }

    /// Whether the current preset is not drawn, because it failed or is too slow, or because there is none.
    get showsPlain() {
        return this.#isSlow || (this.#kindOf(this.current) === "own" && (this.#renderer?.hasFailed ?? true));
    }

    /// Whether the plain picture is drawn without WebGL, and nothing above it.
    get isPlain() { return !this.#renderer && !(this.#user?.opacity > 0); }

    /// Shows a preset, at once or blended. Returns false if there is none of this name.
    load(name, blendSeconds = 0) {
        if (!this.names.includes(name)) return false;
        if (this.isOwn(name)) {
            if (!this.#renderer && !this.#slow.own) this.#restart(true);
            // What is covered needs no blend.
            this.#renderer?.load(name, this.#user?.opacity === 1 ? 0 : blendSeconds);
            this.#user?.hide(blendSeconds);
        } else if (!this.#slow.user) {
            this.#user.load(name, blendSeconds);
        }
        this.current = name;
        this.#adapt();
        return true;
    }

    /// Changes to the plain picture where a preset has failed or presets are too slow, and reports the latter.
    #adapt() {
        const isSlow = this.#isSlow;
        if (this.#renderer && (isSlow || this.#slow.own || this.#renderer.hasFailed)) this.#restart(false);
        if (isSlow === this.#reported) return;
        this.#reported = isSlow;
        this.#options.onslow(isSlow);
    }

    /// Draws presets again that were too slow: all of the kind of this one.
    retry(name = this.current) {
        const kind = this.#kindOf(name);
        if (!this.#slow[kind]) return;
        this.#slow[kind] = false;
        if (this.#kindOf(this.current) === kind) this.load(this.current);
    }

    /// Takes a size in CSS pixels.
    resize(width, height, pixelRatio) {
        this.#canvas.width = Math.max(1, Math.round(width * pixelRatio));
        this.#canvas.height = Math.max(1, Math.round(height * pixelRatio));
        this.#renderer?.applySize();
    }

    render(input) {
        const user = this.#user;
        const frame = this.#follower.follow(input);
        // What is covered is not drawn.
        if (user?.opacity !== 1) (this.#renderer ?? this.#plain).render(frame);
        user?.render(frame, this.#canvas.width, this.#canvas.height);
        if (user?.isTooSlow) {
            this.#slow.user = true;
            user.close();
        } else if (this.#renderer?.isTooSlow) {
            this.#slow.own = true;
        } else if (!this.#renderer?.hasFailed) {
            return;
        }
        this.#adapt();
    }

    dispose() {
        this.#renderer?.dispose();
    }
}
