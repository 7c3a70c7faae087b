// Flocks of lights in a flow: every particle belongs to one frequency, shines with it, and follows one of three wandering centres.

const UPDATE = `
layout(location = 0) in vec4 aState; // position, velocity
out vec4 vState;
uniform float uTime, uStep, uAspect;
uniform vec2 uCenters[3];
float potential(vec2 p) { return noise(p + vec2(uTime * 0.21, 7.0)) + 0.5 * noise(p * 2.3 - vec2(3.0, uTime * 0.33)); }
void main() {
  vec2 p = aState.xy, v = aState.zw;
  vec2 seed = vec2(float(gl_VertexID), 3.0);
  float band = hash(seed), own = hash(seed + 17.0);
  int flock = int(hash(seed + 5.0) * 2.999);
  vec2 center = uCenters[flock];
  vec2 e = vec2(0.03, 0.0), q = p * 2.1 + float(flock) * 11.0;
  float here = potential(q);
  vec2 curl = vec2(potential(q + e.yx) - here, here - potential(q + e.xy)) / 0.03;
  vec2 to = center - p;
  float far = length(to) + 1e-4;
  float level = spectrumAt(0.04 + 0.9 * band);
  vec2 aim = curl * (0.20 + 0.25 * uDrive + 0.30 * level * uDrive);
  aim += to * (0.35 + 0.9 * smoothstep(0.35, 0.9, far)) + vec2(-to.y, to.x) / (0.25 + far) * (0.22 + 0.20 * own);
  aim -= to / far * uBeat.w * uDrive * 1.5 * exp(-far * 3.5) * (0.3 + own);
  // The flocks stay in the picture.
  vec2 edge = vec2(0.43 * uAspect, 0.42);
  aim -= 2.6 * sign(p) * max(vec2(0.0), abs(p) - edge);
  v += (aim - v) * (1.0 - exp(-uStep * (1.2 + 2.2 * own)));
  p += v * uStep * (0.5 + 0.9 * uDrive);
  vState = vec4(p, v);
}`;

const DISCARD = `out vec4 color; void main() { color = vec4(0.0); }`;

const POINT_VERTEX = `
layout(location = 0) in vec4 aState;
out vec3 vLight;
uniform sampler2D uColors;
uniform float uTime, uAmount;
void main() {
  vec2 seed = vec2(float(gl_VertexID), 3.0);
  float band = hash(seed), depth = pow(hash(seed + 29.0), 3.0);
  int flock = int(hash(seed + 5.0) * 2.999);
  float level = pow(spectrumAt(0.04 + 0.9 * band), 2.0);
  float speed = length(aState.zw);
  vec3 tint = texture(uColors, vec2(saturate(0.08 + 0.72 * band + 0.35 * (speed - 0.3)), (float(flock) + 0.5) / 4.0 + uTime * 0.006)).rgb;
  float size = (1.5 + 3.4 * depth + 2.0 * level) * max(1.0, uSize.y / 900.0);
  vLight = tint * uAmount * (0.20 + 0.55 * uDrive * depth + 2.6 * level * uDrive) / (1.0 + 0.25 * size);
  gl_PointSize = size;
  gl_Position = vec4(aState.xy * vec2(uSize.y / uSize.x, 1.0) * 2.0, 0.0, 1.0);
}`;

const POINT = `
in vec3 vLight;
out vec4 color;
void main() {
  vec2 d = gl_PointCoord * 2.0 - 1.0;
  color = vec4(vLight * exp(-dot(d, d) * 2.2), 0.0);
}`;

const TRAIL = `
uniform sampler2D uLast;
uniform float uKeep, uStep;
void main() {
  vec2 p = vUV - 0.5;
  vec3 c = texture(uLast, 0.5 + p * (1.0 - 0.05 * uStep)).rgb;
  color = vec4(max(c * uKeep - 0.0003, 0.0), 0.0);
}`;

const SHOW = `
uniform sampler2D uLight;
uniform vec2 uCenters[3];
void main() {
  vec2 p = centred(vUV);
  vec3 c = texture(uLight, vUV).rgb;
  float level = luminance(c);
  c = max(mix(vec3(level), c, 1.35), 0.0);
  float haze = 0.0;
  for (int i = 0; i < 3; i++) haze += exp(-dot(p - uCenters[i], p - uCenters[i]) * 5.0);
  vec3 night = mix(vec3(0.002, 0.003, 0.009), vec3(0.007, 0.010, 0.026), haze * (0.4 + 0.6 * uDrive));
  color = vec4(c + night * (1.0 - uTransparent), 0.0);
}`;

export default {
    name: "Murmuration",
    description: "Flocks of lights that follow three wandering centres; every light shines with its own frequency",
    look: { bloom: 0.16, vignette: 0.4 },
    create(gl, { width, height, random, graphics }) {
        const update = graphics.program(DISCARD, { vertex: UPDATE, varyings: ["vState"] });
        const point = graphics.program(POINT, { vertex: POINT_VERTEX });
        const trail = graphics.program(TRAIL);
        const show = graphics.program(SHOW);
        const colors = graphics.gradient([
            ["#ff3a1e", "#ff8f2e", "#ffcf5c", "#ffe9b0"], ["#1f4dff", "#1fa8ff", "#2ee6c8", "#a8fff0"],
            ["#8a1fff", "#ff2f9a", "#ff7a8a", "#ffd0a8"], ["#ff5a1f", "#ff2f6e", "#9a4dff", "#4db8ff"],
        ]);
        const count = Math.round(Math.min(60000, Math.max(5000, (width * height) / 26)));
        const data = new Float32Array(count * 4);
        for (let index = 0; index < count; index += 1) {
            const angle = random() * 6.2832;
            const radius = 0.6 * Math.sqrt(random());
            data.set([Math.cos(angle) * radius * 1.5, Math.sin(angle) * radius, 0, 0], index * 4);
        }
        const particles = { read: graphics.particles(data), write: graphics.particles(data) };
        const light = graphics.pair(width, height);
        // The centres start a third of a turn apart.
        const start = random() * 6;
        const offsets = [start, start + 2.09, start + 4.19];
        let time = random() * 200;
        return {
            render(frame, target) {
                time += frame.step * (0.5 + frame.drive);
                const aspect = target.width / target.height;
                const centers = new Float32Array(6);
                offsets.forEach((offset, index) => {
                    centers[index * 2] = 0.25 * aspect * Math.sin(time * (0.17 + 0.05 * index) + offset);
                    centers[index * 2 + 1] = 0.20 * Math.cos(time * (0.23 - 0.04 * index) + offset * 1.7);
                });
                const uniforms = { uTime: time, uStep: frame.step, uAspect: aspect, uCenters: centers, uColors: colors };
                graphics.transform(update, uniforms, particles.read, count, particles.write);
                graphics.swap(particles);
                const keep = Math.exp(-frame.dt / 0.30);
                graphics.draw(trail, light.write, { uLast: light.read, uKeep: keep, uStep: frame.step });
                const uAmount = (1 - keep) * 6 * Math.min(1.6, (target.width * target.height) / 26 / count);
                graphics.draw(point, light.write, { ...uniforms, uAmount }, { blend: "add", array: particles.read.array, mode: gl.POINTS, count });
                graphics.swap(light);
                graphics.draw(show, target, { uLight: light.read, uCenters: centers });
            },
            resize(newWidth, newHeight) { graphics.resizePair(light, newWidth, newHeight); },
        };
    },
};
