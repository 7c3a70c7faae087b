// A vector oscilloscope with two phosphors: left against right against the delayed middle, as a curve in space that turns slowly.
// The beam is blue-white; its afterglow is amber, as on the radar tubes with a P7 screen.

const BEAM_VERTEX = `
uniform float uGain, uTime;
out vec2 vAcross;
out float vEnergy, vPower;
// Eleven samples with a triangular window: a curve instead of a scribble.
vec2 smoothWave(float n) {
  vec2 sum = vec2(0.0);
  for (int k = -5; k <= 5; k++) sum += waveAt((n + float(k) * 1.5 + 12.0) / 1024.0) * (6.0 - abs(float(k)));
  return sum / 36.0;
}
vec3 point(int i) {
  float n = float(i);
  vec2 now = smoothWave(n), later = smoothWave(n + 56.0), last = smoothWave(n + 112.0);
  vec3 p = vec3(now.x, later.y, 0.5 * (last.x + last.y)) * uGain;
  float a = n / 880.0 * TAU;
  // In silence, a slow closed curve.
  vec3 idle = vec3(sin(a * 3.0 + uTime * 0.4), sin(a * 2.0), cos(a * 5.0 - uTime * 0.3)) * vec3(0.55, 0.5, 0.4);
  p = mix(idle, p, smoothstep(0.0, 0.15, uDrive));
  return p / max(1.0, length(p) * 0.9);
}
vec3 project(vec3 p) {
  p.xz *= rotation(uTime * 0.21);
  p.yz *= rotation(0.5 * sin(uTime * 0.13) + 0.25);
  float depth = 1.9 / (2.6 - p.z);
  return vec3(p.xy * depth * 0.62, depth);
}
void main() {
  int i = gl_InstanceID * 2, corner = gl_VertexID;
  vec3 a = project(point(i)), b = project(point(i + 2));
  vec2 along = b.xy - a.xy;
  float size = length(along);
  vec2 direction = size > 1e-5 ? along / size : vec2(1, 0);
  float end = (corner & 1) == 0 ? -1.0 : 1.0, side = corner < 2 ? -1.0 : 1.0;
  float wide = max(0.0042, 2.2 / uSize.y) * a.z;
  vec2 p = (end < 0.0 ? a.xy : b.xy) + direction * end * wide + vec2(-direction.y, direction.x) * side * wide;
  vAcross = vec2(end < 0.0 ? -wide : size + wide, side * wide) / wide;
  vEnergy = size / wide;
  // A beam as wide as two pixels of a small picture is as much dimmer.
  vPower = 0.0042 * a.z / wide;
  gl_Position = vec4(p * vec2(uSize.y / uSize.x, 1.0) * 2.05, 0.0, 1.0);
}`;

// The light of a beam that moves at constant power along a segment: the integral of a Gauss profile.
const BEAM = `
in vec2 vAcross;
in float vEnergy, vPower;
out vec4 color;
uniform float uAmount;
float integral(float x) { return 1.0 / (1.0 + exp(-4.2 * x)); }
void main() {
  float along = integral(vAcross.x) - integral(vAcross.x - vEnergy);
  float light = exp(-vAcross.y * vAcross.y * 3.2) * along / (0.22 + vEnergy) * vPower * uAmount;
  color = vec4(light, light, 0.0, 0.0);
}`;

const DECAY = `
uniform sampler2D uLast;
uniform vec2 uKeep;
void main() {
  vec2 t = 0.9 / uSize;
  vec2 u = vec2(t.x, -t.y);
  vec2 soft = texture(uLast, vUV + t).rg + texture(uLast, vUV - t).rg + texture(uLast, vUV + u).rg + texture(uLast, vUV - u).rg;
  vec2 here = texture(uLast, vUV).rg;
  color = vec4(max(vec2(here.x, mix(here.y, soft.y * 0.25, 0.12)) * uKeep - 0.00002, 0.0), 0.0, 0.0);
}`;

const SHOW = `
uniform sampler2D uLight, uColors;
uniform float uTime;
void main() {
  vec2 light = texture(uLight, vUV).rg;
  vec2 p = centred(vUV);
  float glow = 1.0 - exp(-light.y * 0.5);
  vec3 c = texture(uColors, vec2(glow, 0.5)).rgb * (0.15 + 1.35 * glow) * step(0.0001, glow);
  c += vec3(0.42, 0.78, 1.0) * (1.0 - exp(-light.x * 0.55)) * 1.5;
  float r = length(p), px = 1.1 / uSize.y;
  float rings = smoothstep(px, 0.0, abs(fract(r * 8.0 + 0.5) - 0.5) / 8.0) * step(r, 0.47);
  float a = atan(p.y, p.x) / TAU * 72.0;
  float ticks = smoothstep(px, 0.0, abs(fract(a + 0.5) - 0.5) / 72.0 * TAU * r) * smoothstep(0.004, 0.0, abs(r - 0.4475) - 0.006);
  float turn = smoothstep(0.06, 0.0, abs(fract(atan(p.y, p.x) / TAU - uBeat.z * 0.25) - 0.5)) * smoothstep(0.0025, 0.0, abs(r - 0.4375));
  float screen = (1.0 - uTransparent) * smoothstep(1.1, 0.0, r);
  c += vec3(0.30, 0.42, 0.40) * (rings * 0.045 + ticks * 0.22) + vec3(1.0, 0.62, 0.22) * turn * 0.35 * (0.3 + 0.7 * uDrive);
  c += vec3(0.004, 0.011, 0.012) * screen;
  color = vec4(c, 0.0);
}`;

export default {
    name: "Phosphor",
    description: "A vector oscilloscope in space: a blue-white beam over an amber afterglow",
    look: { bloom: 0.16, vignette: 0.55 },
    create(gl, { width, height, random, graphics }) {
        const beam = graphics.program(BEAM, { vertex: BEAM_VERTEX });
        const decay = graphics.program(DECAY);
        const show = graphics.program(SHOW);
        const colors = graphics.gradient([["#120700", "#5a2303", "#b5560b", "#f2a33a", "#ffe3a8"]]);
        const light = graphics.pair(width, height);
        let time = random() * 300;
        let peak = 0.3;
        return {
            render(frame, target) {
                time += frame.step * (0.5 + 0.7 * frame.drive);
                let greatest = 0.02;
                for (let index = 0; index < 1024; index += 4) greatest = Math.max(greatest, Math.abs(frame.waveform[index]));
                peak += (greatest > peak ? 1 - Math.exp(-frame.dt / 0.08) : 1 - Math.exp(-frame.dt / 1.5)) * (greatest - peak);
                const keep = Math.exp(-frame.dt / 0.06);
                graphics.draw(decay, light.write, { uLast: light.read, uKeep: [keep, Math.exp(-frame.dt / 0.75)] });
                const uAmount = (1 - keep) * 1.9 * (0.55 + 0.45 * frame.drive);
                graphics.draw(beam, light.write, { uGain: 1.08 / peak, uTime: time, uAmount }, {
                    blend: "add", mode: gl.TRIANGLE_STRIP, count: 4, instances: 440,
                });
                graphics.swap(light);
                graphics.draw(show, target, { uLight: light.read, uColors: colors, uTime: time });
            },
            resize(newWidth, newHeight) { graphics.resizePair(light, newWidth, newHeight); },
        };
    },
};
