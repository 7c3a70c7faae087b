// A thin layer over WebGL2 for the stage and its presets: programs with reflected uniforms, render targets, gradients, and the GLSL
// functions that all shaders share. Every colour in a target is linear light with premultiplied alpha.

import { hexToOklab, linearToSRGB, oklabToLinear } from "../analysis/colour.js";

const HEADER = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
`;

/// Uniforms and functions that every fragment and vertex shader has. The stage sets the uniforms that a program uses.
const COMMON = `
uniform vec2 uSize;          // size of the target in pixels
uniform vec3 uBands;         // bass, mid, treble; 1 is the average
uniform vec3 uSoft;          // the same, attenuated
uniform vec4 uBeat;          // pulse 0...1, phase 0...1, continuous beat count, kick 0...1
uniform float uDrive;        // slow loudness, 0 in silence to 1
uniform float uTransparent;  // 1 when the background must stay transparent
uniform sampler2D uWave;     // 1024 x 1: left, right
uniform sampler2D uSpectrum; // 256 x 1: level 0...1
uniform sampler2D uHistory;  // 256 x 256: past spectra, a ring of rows
uniform float uHead;         // continuous row number of the newest spectrum

const float PI = 3.14159265359;
const float TAU = 6.28318530718;

float luminance(vec3 c) { return dot(c, vec3(0.2126, 0.7152, 0.0722)); }
mat2 rotation(float a) { float c = cos(a), s = sin(a); return mat2(c, s, -s, c); }
float saturate(float x) { return clamp(x, 0.0, 1.0); }
// The position in the picture: 0 in its middle, and 1 is its height.
vec2 centred(vec2 uv) { return (uv - 0.5) * vec2(uSize.x / uSize.y, 1.0); }

// Level of the spectrum at the position x (0: 30 Hz, 1: 16 kHz).
float spectrumAt(float x) { return texture(uSpectrum, vec2(clamp(x, 0.002, 0.998), 0.5)).r; }
// The same, age rows ago (30 rows are one second at full speed; 250 at most).
float historyAt(float x, float age) {
  return texture(uHistory, vec2(clamp(x, 0.002, 0.998), (uHead - clamp(age, 0.0, 250.0) + 0.5) / 256.0)).r;
}
vec2 waveAt(float x) { return texture(uWave, vec2(clamp(x, 0.0005, 0.9995), 0.5)).rg; }

// A texture with few texels through a cubic B-spline: they have no visible borders.
vec4 smoothTexture(sampler2D source, vec2 uv) {
  vec2 size = vec2(textureSize(source, 0)), p = uv * size - 0.5, i = floor(p), f = p - i, f2 = f * f, f3 = f2 * f;
  vec2 w0 = (1.0 - f) * (1.0 - f) * (1.0 - f) / 6.0, w1 = (4.0 - 6.0 * f2 + 3.0 * f3) / 6.0, w3 = f3 / 6.0, w2 = 1.0 - w0 - w1 - w3;
  vec2 a = w0 + w1, b = w2 + w3, low = (i - 0.5 + w1 / a) / size, high = (i + 1.5 + w3 / b) / size;
  return a.y * (a.x * texture(source, low) + b.x * texture(source, vec2(high.x, low.y)))
    + b.y * (a.x * texture(source, vec2(low.x, high.y)) + b.x * texture(source, high));
}

// Integer hash: the same value on every GPU.
uint hashBits(uvec2 p) {
  uint h = p.x * 0x9E3779B9u ^ (p.y * 0x85EBCA6Bu + 0x27D4EB2Fu);
  h ^= h >> 15; h *= 0x2C1B3C6Du; h ^= h >> 12; h *= 0x297A2D39u; h ^= h >> 15;
  return h;
}
float hash(vec2 p) { return float(hashBits(uvec2(ivec2(p))) >> 8) / 16777216.0; }
vec2 hash2(vec2 p) {
  uint h = hashBits(uvec2(ivec2(p)));
  return vec2(float(h & 0xFFFFu), float(h >> 16)) / 65536.0;
}
// Value noise, 0...1, with continuous second derivative.
float noise(vec2 p) {
  vec2 i = floor(p), f = p - i;
  f = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
  return mix(mix(hash(i), hash(i + vec2(1, 0)), f.x), mix(hash(i + vec2(0, 1)), hash(i + vec2(1, 1)), f.x), f.y);
}
float fbm(vec2 p, int octaves) {
  float sum = 0.0, amplitude = 0.5;
  for (int i = 0; i < octaves; i++) {
    sum += amplitude * noise(p);
    p = mat2(1.6, 1.2, -1.2, 1.6) * p + 17.3;
    amplitude *= 0.5;
  }
  return sum;
}
`;

const FULL_SCREEN = `
out vec2 vUV;
void main() {
  vUV = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  gl_Position = vec4(vUV * 2.0 - 1.0, 0.0, 1.0);
}`;

/// A compiled program with setters for its active uniforms.
class Program {
    constructor(gl, handle) {
        this.handle = handle;
        this.uniforms = new Map();
        let unit = 0;
        const count = gl.getProgramParameter(handle, gl.ACTIVE_UNIFORMS);
        for (let index = 0; index < count; index += 1) {
            const info = gl.getActiveUniform(handle, index);
            const location = gl.getUniformLocation(handle, info.name);
            const name = info.name.replace("[0]", "");
            let set;
            switch (info.type) {
            case gl.FLOAT: set = (v) => gl.uniform1f(location, v); break;
            case gl.FLOAT_VEC2: set = (v) => gl.uniform2fv(location, v); break;
            case gl.FLOAT_VEC3: set = (v) => gl.uniform3fv(location, v); break;
            case gl.FLOAT_VEC4: set = (v) => gl.uniform4fv(location, v); break;
            case gl.SAMPLER_2D: {
                const own = unit;
                unit += 1;
                set = (texture) => {
                    gl.activeTexture(gl.TEXTURE0 + own);
                    gl.bindTexture(gl.TEXTURE_2D, texture.texture ?? texture);
                    gl.uniform1i(location, own);
                };
                break;
            }
            default: throw new Error(`uniform ${info.name}: unsupported type`);
            }
            this.uniforms.set(name, set);
        }
    }
}

/// Enables the floating-point targets that the stage draws into. Returns whether there are any.
export function enableFloatTargets(gl) {
    return gl.getExtension("EXT_color_buffer_float") !== null || gl.getExtension("EXT_color_buffer_half_float") !== null;
}

/// Owns the WebGL objects of one preset (or of the stage) and draws with them. `dispose` deletes all of them.
export class Graphics {
    #owned = [];

    /// `shared` holds the uniforms common to all programs.
    constructor(gl, shared) {
        this.gl = gl;
        this.shared = shared;
        this.array = this.#own(gl.createVertexArray(), (object) => gl.deleteVertexArray(object));
    }

    #own(object, remove) {
        this.#owned.push([object, remove]);
        return object;
    }

    #shader(type, source) {
        const { gl } = this;
        const shader = gl.createShader(type);
        gl.shaderSource(shader, source);
        gl.compileShader(shader);
        return shader;
    }

    /// Compiles and links. Throws an error with the compiler's log.
    program(fragment, { vertex = FULL_SCREEN, varyings = null } = {}) {
        const { gl } = this;
        const output = fragment.includes("out vec4") ? "" : "in vec2 vUV; out vec4 color;\n";
        const shaders = [
            this.#shader(gl.VERTEX_SHADER, HEADER + COMMON + vertex),
            this.#shader(gl.FRAGMENT_SHADER, HEADER + COMMON + output + fragment),
        ];
        const handle = this.#own(gl.createProgram(), (object) => gl.deleteProgram(object));
        for (const shader of shaders) gl.attachShader(handle, shader);
        if (varyings) gl.transformFeedbackVaryings(handle, varyings, gl.INTERLEAVED_ATTRIBS);
        gl.linkProgram(handle);
        const isLinked = gl.getProgramParameter(handle, gl.LINK_STATUS);
        const logs = isLinked ? [] : [...shaders.map((shader) => gl.getShaderInfoLog(shader)), gl.getProgramInfoLog(handle)];
        for (const shader of shaders) {
            gl.detachShader(handle, shader);
            gl.deleteShader(shader);
        }
        if (!isLinked && !gl.isContextLost()) throw new Error(`shader compilation failed: ${logs.join("\n").trim()}`);
        return new Program(gl, handle);
    }

    /// A texture of one level. `format` is [internal format, format, type].
    texture(width, height, format, { filter = this.gl.LINEAR, wrap = this.gl.CLAMP_TO_EDGE, data = null } = {}) {
        const { gl } = this;
        const texture = this.#own(gl.createTexture(), (object) => gl.deleteTexture(object));
        gl.activeTexture(gl.TEXTURE0);
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.texImage2D(gl.TEXTURE_2D, 0, format[0], width, height, 0, format[1], format[2], data);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, wrap);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, wrap);
        return texture;
    }

    /// A texture to render to, cleared to zero; without a format, one of half floats.
    target(width, height, { format = undefined, filter = undefined, wrap = undefined } = {}) {
        const { gl } = this;
        const target = {
            width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)), options: { format, filter, wrap },
        };
        target.texture = this.texture(target.width, target.height, format ?? [gl.RGBA16F, gl.RGBA, gl.HALF_FLOAT], { filter, wrap });
        target.framebuffer = this.#own(gl.createFramebuffer(), (object) => gl.deleteFramebuffer(object));
        gl.bindFramebuffer(gl.FRAMEBUFFER, target.framebuffer);
        gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target.texture, 0);
        this.clear(target);
        return target;
    }

    /// The target with another size; its picture is scaled, so that feedback goes on.
    resized(target, width, height) {
        const { gl } = this;
        const next = this.target(width, height, target.options);
        gl.bindFramebuffer(gl.READ_FRAMEBUFFER, target.framebuffer);
        gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, next.framebuffer);
        gl.blitFramebuffer(0, 0, target.width, target.height, 0, 0, next.width, next.height, gl.COLOR_BUFFER_BIT, gl.LINEAR);
        this.remove(target);
        return next;
    }

    /// Two targets that change places: read the one, write the other.
    pair(width, height, options) {
        return { read: this.target(width, height, options), write: this.target(width, height, options) };
    }

    swap(pair) {
        [pair.read, pair.write] = [pair.write, pair.read];
    }

    resizePair(pair, width, height) {
        pair.read = this.resized(pair.read, width, height);
        pair.write = this.resized(pair.write, width, height);
    }

    remove(target) {
        this.#owned = this.#owned.filter(([object, remove]) => {
            if (object !== target.texture && object !== target.framebuffer) return true;
            remove(object);
            return false;
        });
    }

    /// Particles of four numbers each, which are the attribute 0: a buffer that `transform` can fill, and an array for draws.
    particles(data) {
        const { gl } = this;
        const buffer = this.#own(gl.createBuffer(), (object) => gl.deleteBuffer(object));
        const array = this.#own(gl.createVertexArray(), (object) => gl.deleteVertexArray(object));
        gl.bindVertexArray(array);
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_COPY);
        gl.enableVertexAttribArray(0);
        gl.vertexAttribPointer(0, 4, gl.FLOAT, false, 0, 0);
        gl.bindVertexArray(null);
        gl.bindBuffer(gl.ARRAY_BUFFER, null);
        return { buffer, array };
    }

    /// A texture with one colour gradient a row, interpolated in OKLab: `rows` is [["#rrggbb", …], …].
    gradient(rows) {
        const { gl } = this;
        const width = 256;
        const data = new Uint8Array(width * rows.length * 4);
        rows.forEach((stops, row) => {
            const colors = stops.map(hexToOklab);
            for (let x = 0; x < width; x += 1) {
                const position = (x / (width - 1)) * (colors.length - 1);
                const index = Math.min(colors.length - 2, Math.trunc(position));
                const part = position - index;
                const lab = colors[index].map((value, k) => value + (colors[index + 1][k] - value) * part);
                const at = (row * width + x) * 4;
                oklabToLinear(lab).forEach((value, k) => { data[at + k] = Math.round(255 * linearToSRGB(value)); });
                data[at + 3] = 255;
            }
        });
        const texture = this.texture(width, rows.length, [gl.SRGB8_ALPHA8, gl.RGBA, gl.UNSIGNED_BYTE], { data });
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.REPEAT);
        return texture;
    }

    clear(target, color = [0, 0, 0, 0]) {
        const { gl } = this;
        gl.bindFramebuffer(gl.FRAMEBUFFER, target.framebuffer);
        gl.clearColor(...color);
        gl.clear(gl.COLOR_BUFFER_BIT);
    }

    #use(program, uniforms, target) {
        this.gl.useProgram(program.handle);
        for (const [name, set] of program.uniforms) {
            const value = name === "uSize" ? [target.width, target.height] : uniforms[name] ?? this.shared.uniforms[name];
            if (value === undefined) throw new Error(`uniform ${name} has no value`);
            set(value);
        }
    }

    /// Draws with the given uniforms; without further options, one triangle that covers the target.
    /// `blend`: null (replace), "add" or "over" (premultiplied alpha).
    draw(program, target, uniforms = {}, options = {}) {
        const { gl } = this;
        const { blend = null, array = this.array, mode = gl.TRIANGLES, count = 3, instances = 1 } = options;
        gl.bindFramebuffer(gl.FRAMEBUFFER, target.framebuffer);
        gl.viewport(0, 0, target.width, target.height);
        if (blend) {
            gl.enable(gl.BLEND);
            gl.blendFunc(gl.ONE, blend === "add" ? gl.ONE : gl.ONE_MINUS_SRC_ALPHA);
        } else {
            gl.disable(gl.BLEND);
        }
        this.#use(program, uniforms, target);
        gl.bindVertexArray(array);
        gl.drawArraysInstanced(mode, 0, count, instances);
        gl.bindVertexArray(null);
    }

    /// Runs the vertex shader for the first `count` of some particles and stores its varyings in others; no pixel is drawn.
    transform(program, uniforms, from, count, to) {
        const { gl } = this;
        this.#use(program, uniforms, { width: 1, height: 1 });
        gl.bindVertexArray(from.array);
        gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, to.buffer);
        gl.enable(gl.RASTERIZER_DISCARD);
        gl.beginTransformFeedback(gl.POINTS);
        gl.drawArrays(gl.POINTS, 0, count);
        gl.endTransformFeedback();
        gl.disable(gl.RASTERIZER_DISCARD);
        gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, null);
        gl.bindVertexArray(null);
    }

    dispose() {
        for (const [object, remove] of this.#owned) remove(object);
        this.#owned = [];
    }
}

/// A generator of numbers 0 ≤ x < 1 that depends on the seed and the text only (xorshift with 32 bits of state).
export function seededRandom(seed, text) {
    let state = (seed >>> 0) ^ 0x9e3779b9;
    for (const character of text) state = Math.imul(state ^ character.codePointAt(0), 0x01000193) >>> 0;
    state ||= 1;
    const next = () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return (state >>> 0) / 4294967296;
    };
    for (let step = 0; step < 8; step += 1) next();
    return next;
}
