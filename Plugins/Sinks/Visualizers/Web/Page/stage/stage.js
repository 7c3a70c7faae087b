// The stage: owns the canvas, runs the presets, blends between them, adds bloom, maps tones, limits flashes and encodes the picture.
//
// Presets draw linear light with premultiplied alpha into floating-point targets. Everything up to the last pass is linear; the last
// pass encodes sRGB and dithers.

import { CanvasFallback, plainPreset } from "./fallback.js";
import { FlashLimiter } from "./flash.js";
import { MusicFollower, MusicTextures } from "../analysis/music.js";
import { presets } from "./visuals/index.js";
import { ResolutionControl } from "./resolution.js";
import { detectFormats, Graphics, seededRandom } from "./webgl.js";

const BLOOM_LEVELS = 5;
const MAXIMUM_PIXELS = 2560 * 1440;

const DOWN = `
uniform sampler2D uSource;
uniform vec2 uTexel;
uniform float uShare;
void main() {
  vec4 sum = 4.0 * texture(uSource, vUV);
  sum += texture(uSource, vUV + uTexel * vec2(1, 1)) + texture(uSource, vUV + uTexel * vec2(-1, 1));
  sum += texture(uSource, vUV + uTexel * vec2(1, -1)) + texture(uSource, vUV + uTexel * vec2(-1, -1));
  color = min(sum / 8.0, vec4(60.0)) * uShare;
}`;

const UP = `
uniform sampler2D uSource;
uniform vec2 uTexel;
void main() {
  vec4 sum = 2.0 * (texture(uSource, vUV + uTexel * vec2(1, 1)) + texture(uSource, vUV + uTexel * vec2(-1, 1))
    + texture(uSource, vUV + uTexel * vec2(1, -1)) + texture(uSource, vUV + uTexel * vec2(-1, -1)));
  sum += texture(uSource, vUV + uTexel * vec2(2, 0)) + texture(uSource, vUV - uTexel * vec2(2, 0));
  sum += texture(uSource, vUV + uTexel * vec2(0, 2)) + texture(uSource, vUV - uTexel * vec2(0, 2));
  color = sum / 12.0 * 0.8;
}`;

const COMPOSITE = `
uniform sampler2D uFrom, uTo, uGlow;
uniform float uProgress, uGlowShare, uVignette, uSeed;
void main() {
  vec4 light = texture(uTo, vUV);
  if (uProgress < 1.0) {
    // A soft front of noise moves over the picture, so that a blend is more than a cross-fade.
    vec2 p = (vUV - 0.5) * vec2(uSize.x / uSize.y, 1.0);
    float front = 0.65 * fbm(p * 2.2 + uSeed, 3) + 0.5 * length(p);
    light = mix(texture(uFrom, vUV), light, smoothstep(front - 0.4, front + 0.4, uProgress * 1.9 - 0.45));
  }
  light += texture(uGlow, vUV) * uGlowShare;
  vec2 edge = (vUV - 0.5) * 1.2;
  light.rgb *= 1.0 - uVignette * smoothstep(0.25, 1.0, dot(edge, edge) * 1.5);
  light.rgb = max(light.rgb, vec3(0.0));
  // Colours below the knee stay as they are. Above it the peak approaches 1, and the colour approaches white.
  float peak = max(light.r, max(light.g, light.b));
  const float knee = 0.62;
  if (peak > knee) {
    float over = peak - knee;
    float mapped = knee + (1.0 - knee) * over / (over + 1.0 - knee);
    light.rgb *= mapped / peak;
    light.rgb = mix(light.rgb, vec3(mapped), 1.0 - 1.0 / (1.0 + 0.22 * over));
  }
  float alpha = mix(1.0, clamp(max(light.a, max(light.r, max(light.g, light.b))), 0.0, 1.0), uTransparent);
  color = vec4(light.rgb, alpha);
}`;

const PRESENT = `
uniform sampler2D uPicture;
uniform float uFrame;
vec3 encode(vec3 c) { return mix(c * 12.92, 1.055 * pow(max(c, vec3(1e-6)), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c)); }
void main() {
  vec4 light = texture(uPicture, vUV);
  float alpha = mix(1.0, light.a, uTransparent);
  vec3 straight = alpha > 0.0 ? clamp(light.rgb / alpha, 0.0, 1.0) : vec3(0.0);
  // Triangular noise of one step hides the steps of 8 bits in dark gradients.
  vec2 seed = gl_FragCoord.xy + mod(uFrame, 61.0) * vec2(47.0, 17.0);
  float grain = (hash(seed) + hash(seed + 311.0) - 1.0) / 255.0;
  vec3 encoded = encode(straight);
  color = vec4(clamp(encoded + grain * step(0.0005, alpha), 0.0, 1.0) * alpha, alpha);
}`;

/// One running preset with its target.
class Player {
    constructor(stage, preset) {
        const { gl, shared } = stage;
        this.preset = preset;
        this.graphics = new Graphics(gl, preset.name, shared);
        this.look = { bloom: 0.35, vignette: 0.35, ...preset.look };
        try {
            this.target = this.graphics.target(stage.width, stage.height);
            this.instance = preset.create(gl, {
                width: stage.width, height: stage.height, random: seededRandom(stage.seed, preset.name), transparent: stage.transparent,
                graphics: this.graphics, reducedMotion: stage.reducedMotion,
            });
        } catch (error) {
            this.graphics.dispose();
            throw error;
        }
    }

    render(frame) {
        this.instance.render(frame, this.target);
    }

    resize(width, height) {
        this.target = this.graphics.resized(this.target, width, height);
        this.instance.resize(width, height);
    }

    /// Deletes everything the preset has created, also when its own `dispose` throws.
    dispose() {
        try {
            this.instance.dispose();
        } catch (error) {
            console.warn(`preset ${this.preset.name}: dispose: ${error}`);
        }
        this.graphics.dispose();
    }
}

/// Draws presets with WebGL2.
class Renderer {
    constructor(canvas, gl, follower, options) {
        this.canvas = canvas;
        this.gl = gl;
        this.follower = follower;
        this.transparent = options.transparent === true;
        this.strobe = options.strobe === true;
        this.reducedMotion = options.reducedMotion === true;
        this.seed = Number.isFinite(options.seed) ? Math.trunc(options.seed) : 1;
        this.onerror = options.onerror;
        this.catalog = options.presets ?? presets;
        this.resolution = options.adaptive === false ? null : new ResolutionControl();
        this.wanted = null;
        this.from = null;
        this.to = null;
        this.frameNumber = 0;
        this.onLost = (event) => {
            event.preventDefault();
            this.isLost = true;
            this.from = null;
            this.to = null;
        };
        this.onRestored = () => {
            this.isLost = false;
            this.build();
            if (this.wanted) this.load(this.wanted, 0);
        };
        canvas.addEventListener("webglcontextlost", this.onLost);
        canvas.addEventListener("webglcontextrestored", this.onRestored);
        this.measure();
        this.build();
    }

    get isPlain() { return this.to?.preset === plainPreset; }

    available() {
        return this.catalog.filter((preset) => !preset.needsFloat || this.shared.formats.hasFloat);
    }

    /// Sets the size of the pictures from the canvas's size and the scale.
    measure() {
        const { width, height } = this.canvas;
        // A preset is made for the full size, and resized for the trial.
        const share = this.to ? this.resolution?.scale ?? 1 : 1;
        const scale = Math.min(1, Math.sqrt(MAXIMUM_PIXELS / Math.max(1, width * height))) * share;
        this.width = Math.max(16, Math.round(width * scale));
        this.height = Math.max(16, Math.round(height * scale));
    }

    build() {
        const { gl } = this;
        this.shared = { formats: detectFormats(gl), uniforms: { uTransparent: this.transparent ? 1 : 0 } };
        gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
        gl.disable(gl.CULL_FACE);
        this.graphics = new Graphics(gl, "stage", this.shared);
        this.textures = new MusicTextures(this.graphics);
        this.programs = {
            down: this.graphics.program(DOWN), up: this.graphics.program(UP),
            composite: this.graphics.program(COMPOSITE), present: this.graphics.program(PRESENT),
        };
        this.picture = this.graphics.target(this.width, this.height);
        this.empty = this.graphics.target(1, 1);
        this.limiter = this.strobe ? null : new FlashLimiter(this.graphics, this.width, this.height);
        if (this.limiter) this.limiter.calm = this.reducedMotion;
        this.makeGlow();
        this.textures.update(this.follower.frame, this.shared.uniforms);
    }

    makeGlow() {
        for (const target of this.glow ?? []) this.graphics.remove(target);
        this.glow = [];
        for (let level = 1; level <= BLOOM_LEVELS; level += 1) {
            const width = Math.ceil(this.width / 2 ** level);
            const height = Math.ceil(this.height / 2 ** level);
            if (Math.min(width, height) < 4) break;
            this.glow.push(this.graphics.target(width, height));
        }
    }

    report(name, error) {
        const message = error instanceof Error ? error.message : String(error);
        const text = message.startsWith("preset ") ? message : `preset ${name}: ${message}`;
        this.onerror({ preset: name, message: text, error });
    }

    play(preset) {
        try {
            return new Player(this, preset);
        } catch (error) {
            this.report(preset.name, error);
            if (preset === plainPreset || this.gl.isContextLost()) return null;
            return this.play(plainPreset);
        }
    }

    load(name, blendSeconds = 0) {
        const preset = this.available().find((candidate) => candidate.name === name);
        if (!preset) return false;
        this.wanted = name;
        if (this.isLost) return true;
        const seconds = Number.isFinite(blendSeconds) ? Math.max(0, blendSeconds) : 0;
        const next = this.play(preset);
        if (!next) return false;
        // During a blend, the preset that shows more of the picture stays as the one to blend from.
        const [stays, leaves] = this.from && this.progress < 0.5 ? [this.from, this.to] : [this.to, this.from];
        leaves?.dispose();
        if (seconds > 0 && stays) {
            this.from = stays;
        } else {
            stays?.dispose();
            this.from = null;
        }
        this.to = next;
        this.progress = this.from ? 0 : 1;
        this.blendSeconds = seconds;
        return true;
    }

    applySize() {
        const before = [this.width, this.height];
        this.measure();
        if (this.isLost || (before[0] === this.width && before[1] === this.height)) return;
        this.picture = this.graphics.resized(this.picture, this.width, this.height);
        this.limiter?.resize(this.width, this.height);
        this.makeGlow();
    }

    renderPlayer(player, frame) {
        try {
            if (player.target.width !== this.width || player.target.height !== this.height) player.resize(this.width, this.height);
            player.render(frame);
            return player;
        } catch (error) {
            if (this.gl.isContextLost()) return player;
            this.report(player.preset.name, error);
            player.dispose();
            const replacement = player.preset === plainPreset ? null : this.play(plainPreset);
            try {
                replacement?.render(frame);
                return replacement;
            } catch (second) {
                this.report(plainPreset.name, second);
                return null;
            }
        }
    }

    render(frame) {
        if (this.isLost || this.gl.isContextLost()) return;
        const { resolution } = this;
        const isTrial = this.to !== null && resolution?.isTrial;
        const start = performance.now();
        if (isTrial || resolution?.measure(start)) this.applySize();
        this.draw(frame);
        if (!isTrial) return;
        // Reading a pixel waits until the picture is computed.
        this.gl.bindFramebuffer(this.gl.FRAMEBUFFER, null);
        this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4));
        if (resolution.tried(performance.now() - start)) this.applySize();
    }

    draw(frame) {
        const { graphics, programs } = this;
        this.frameNumber += 1;
        this.textures.update(frame, this.shared.uniforms);
        if (this.to) this.to = this.renderPlayer(this.to, frame);
        if (this.from) {
            this.progress += frame.dt / this.blendSeconds;
            this.from = this.renderPlayer(this.from, frame);
            if (this.progress >= 1 || !this.from) {
                this.from?.dispose();
                this.from = null;
                this.progress = 1;
            }
        }
        const to = this.to?.target ?? this.empty;
        const from = this.from?.target ?? this.empty;
        const progress = this.from ? this.progress : 1;
        const look = (key) => {
            const value = this.to?.look[key] ?? 0;
            return this.from ? this.from.look[key] * (1 - progress) + value * progress : value;
        };
        this.drawGlow(from, to, progress);
        graphics.draw(programs.composite, this.picture, {
            uFrom: from, uTo: to, uGlow: this.glow[0] ?? this.empty, uProgress: progress, uGlowShare: look("bloom"),
            uVignette: this.transparent ? 0 : look("vignette"), uSeed: this.seed % 89,
        });
        const shown = this.limiter ? this.limiter.apply(this.picture, frame.dt) : this.picture;
        graphics.draw(programs.present, { framebuffer: null, width: this.canvas.width, height: this.canvas.height }, {
            uPicture: shown, uFrame: this.frameNumber,
        });
    }

    drawGlow(from, to, progress) {
        const { graphics, programs, glow } = this;
        if (glow.length === 0) return;
        const texel = ({ width, height }) => [1 / width, 1 / height];
        let source = to;
        for (const target of glow) {
            const isBlend = source === to && this.from;
            graphics.draw(programs.down, target, { uSource: source, uTexel: texel(source), uShare: isBlend ? progress : 1 });
            if (isBlend) {
                graphics.draw(programs.down, target, { uSource: from, uTexel: texel(from), uShare: 1 - progress }, { blend: "add" });
            }
            source = target;
        }
        for (let level = glow.length - 2; level >= 0; level -= 1) {
            const small = glow[level + 1];
            graphics.draw(programs.up, glow[level], { uSource: small, uTexel: [0.5 / small.width, 0.5 / small.height] }, { blend: "add" });
        }
    }

    dispose() {
        this.from?.dispose();
        this.to?.dispose();
        this.from = null;
        this.to = null;
        this.graphics.dispose();
        this.canvas.removeEventListener("webglcontextlost", this.onLost);
        this.canvas.removeEventListener("webglcontextrestored", this.onRestored);
        this.isLost = true;
    }
}

/// Draws presets, its own and the user's, or the plain picture: where there is no WebGL2, and while presets are too slow.
class Stage {
    constructor(canvas, options) {
        this.canvas = canvas;
        this.options = options;
        this.user = options.user ?? null;
        this.onerror = options.onerror ?? null;
        this.follower = new MusicFollower({ reducedMotion: options.reducedMotion === true });
        this.wanted = null;
        /// Whether presets of the user were too slow.
        this.isUserSlow = false;
        /// Whether the plain picture is shown because of them: the stage's own were not too slow.
        this.isPlainForUser = false;
        this.isSlow = false;
        this.start();
    }

    start() {
        const { canvas, options } = this;
        const gl = canvas.getContext("webgl2", {
            alpha: options.transparent === true, premultipliedAlpha: true, antialias: false, depth: false, stencil: false,
            powerPreference: "high-performance",
        });
        this.renderer = gl && new Renderer(canvas, gl, this.follower, { ...options, onerror: (error) => this.report(error) });
        this.plain = gl ? null : new CanvasFallback(canvas, { transparent: options.transparent === true });
        this.own = (this.renderer?.available() ?? []).map(({ name, description }) => ({ name, description }));
    }

    /// The stage's own presets, then the user's.
    get presets() {
        // Without WebGL2 there are none.
        const names = this.own.length > 0 ? this.user?.names ?? [] : [];
        return [...this.own, ...names.filter((name) => !this.isOwn(name)).map((name) => ({ name, description: "" }))];
    }

    /// The last one of its own that was loaded, else the first.
    get lastOwn() { return this.renderer?.wanted ?? this.own[0]?.name ?? null; }

    isOwn(name) { return this.own.some((preset) => preset.name === name); }

    report(error) {
        if (this.onerror) this.onerror(error);
        else console.error(error.message);
    }

    get webgl() { return this.renderer !== null; }

    /// Whether the current preset is not drawn, because it failed or is too slow, or because there is none.
    get showsPlain() {
        if (this.wanted !== null && !this.isOwn(this.wanted)) return this.isUserSlow;
        return this.renderer === null || this.renderer.isPlain;
    }

    get isPlain() { return !this.webgl && !(this.user?.opacity > 0); }

    get names() { return this.presets.map((preset) => preset.name); }

    get current() { return this.wanted; }

    load(name, blendSeconds = 0) {
        if (this.isOwn(name)) {
            if (this.isPlainForUser) this.restart();
            const isHidden = this.user?.opacity === 1;
            if (this.renderer && !this.renderer.load(name, isHidden ? 0 : blendSeconds)) return false;
            this.user?.hide(blendSeconds);
        } else if (this.own.length > 0 && this.user?.has(name)) {
            if (!this.isUserSlow) this.user.load(name, blendSeconds);
        } else {
            return false;
        }
        this.wanted = name;
        this.reportSlowness();
        return true;
    }

    reportSlowness() {
        const isSlow = this.own.length > 0 && (this.isOwn(this.wanted) ? this.renderer === null : this.isUserSlow);
        if (isSlow === this.isSlow) return;
        this.isSlow = isSlow;
        this.options.onslow?.(isSlow);
    }

    resize(width, height, pixelRatio = 1) {
        const ratio = Number.isFinite(pixelRatio) && pixelRatio > 0 ? pixelRatio : 1;
        this.canvas.width = Math.max(1, Math.round(width * ratio));
        this.canvas.height = Math.max(1, Math.round(height * ratio));
        this.renderer?.applySize();
    }

    render(input) {
        const frame = this.follower.follow(input);
        // What is covered is not drawn.
        if (!(this.user?.opacity === 1)) (this.renderer ?? this.plain).render(frame);
        this.user?.render(frame, this.canvas.width, this.canvas.height);
        if (this.user?.isTooSlow) {
            this.isUserSlow = true;
            this.isPlainForUser = this.renderer !== null;
            this.user.close();
        } else if (!this.renderer?.resolution?.isTooSlow) {
            return;
        }
        if (this.renderer) this.fallBack();
        this.reportSlowness();
    }

    /// Shows the plain picture, with the presets' names as before.
    fallBack() {
        const { gl } = this.renderer;
        this.dispose();
        gl.getExtension("WEBGL_lose_context")?.loseContext();
        this.renderer = null;
        this.replaceCanvas();
        this.plain = new CanvasFallback(this.canvas, { transparent: this.options.transparent === true });
    }

    /// Draws presets again after they were too slow: the stage's own, or the user's, as the one of this name.
    retry(name = this.wanted) {
        if (this.own.length === 0) return;
        if (!this.isOwn(name)) {
            if (!this.isUserSlow) return;
            this.isUserSlow = false;
        } else {
            if (this.renderer) return;
            this.restart();
        }
        if (this.wanted) this.load(this.wanted, 0);
    }

    restart() {
        this.isPlainForUser = false;
        this.replaceCanvas();
        this.start();
    }

    /// A canvas keeps the kind of its first context.
    replaceCanvas() {
        const next = /** @type {HTMLCanvasElement} */ (this.canvas.cloneNode());
        this.canvas.replaceWith(next);
        this.canvas = next;
    }

    dispose() {
        this.renderer?.dispose();
    }
}

/// Creates the stage on a canvas, which it replaces when it changes to the plain picture or back.
///
/// Options: `transparent` (the background is transparent, premultiplied alpha), `strobe` (no limit of flashes), `seed` (the same seed and
/// frames give the same pictures), `user` (`UserPresets`), `reducedMotion` (slow, without pulses), `adaptive` (false: fixed resolution, and no
/// plain picture), `onerror` (called with {preset, message, error} when a preset fails; the preset is replaced by a plain one), `onslow` (called
/// with true when presets are drawn less than 20 times a second, so that the plain picture is shown; with false when they are drawn again).
///
/// The stage has: `webgl` (false: none of its own presets is drawn), `isPlain` (the plain picture is drawn without WebGL),
/// `showsPlain` (a plain picture stands for `current`), `names`,
/// `presets` ([{name, description}]; none without WebGL2), `current`, `load(name, blendSeconds)` (0: cut; false: no such preset),
/// `render(frame)`, `resize(width, height, pixelRatio)` in CSS pixels, `retry()`, `dispose()`, and the settable `onerror`.
export const createStage = (canvas, options = {}) => new Stage(canvas, options);
