// The way of the light from the presets to the canvas: blend, bloom, tones, limit of flashes. It is linear up to the last pass, which
// encodes sRGB and dithers.

import { Bloom } from "./bloom.js";
import { FlashLimiter } from "./flash.js";

const COMPOSITE = `
uniform sampler2D uFrom, uTo, uGlow;
uniform float uProgress, uGlowShare, uVignette, uSeed;
void main() {
  vec4 light = texture(uTo, vUV);
  if (uProgress < 1.0) {
    // A soft front of noise moves over the picture, so that a blend is more than a cross-fade.
    vec2 p = centred(vUV);
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

export class Compositor {
    #frameNumber = 0;

    constructor(graphics, width, height, { transparent, strobe, reducedMotion, seed }) {
        this.graphics = graphics;
        this.transparent = transparent;
        this.seed = seed;
        this.composite = graphics.program(COMPOSITE);
        this.present = graphics.program(PRESENT);
        this.picture = graphics.target(width, height);
        this.empty = graphics.target(1, 1);
        this.bloom = new Bloom(graphics, width, height);
        this.limiter = strobe ? null : new FlashLimiter(graphics, width, height, reducedMotion);
    }

    resize(width, height) {
        this.picture = this.graphics.resized(this.picture, width, height);
        this.bloom.resize(width, height);
        this.limiter?.resize(width, height);
    }

    /// Draws the picture of two players, of which the second has the share `progress`, `dt` seconds after the last one. Either may be null.
    draw(from, to, progress, dt) {
        const { graphics, empty } = this;
        const { canvas } = graphics.gl;
        const [uFrom, uTo] = [from?.target ?? empty, to?.target ?? empty];
        const look = (key) => (from?.look[key] ?? 0) * (1 - progress) + (to?.look[key] ?? 0) * progress;
        graphics.draw(this.composite, this.picture, {
            uFrom, uTo, uGlow: this.bloom.draw(uFrom, uTo, progress) ?? empty, uProgress: progress, uGlowShare: look("bloom"),
            uVignette: this.transparent ? 0 : look("vignette"), uSeed: this.seed % 89,
        });
        this.#frameNumber += 1;
        graphics.draw(this.present, { framebuffer: null, width: canvas.width, height: canvas.height }, {
            uPicture: this.limiter?.apply(this.picture, dt) ?? this.picture, uFrame: this.#frameNumber,
        });
    }
}
