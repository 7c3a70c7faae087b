// A mountain range of past spectra: every ridge is one moment of the music, the nearest the latest. Ridges hide those behind them and
// fade into the haze of a dusk sky.

const RIDGES = 64;
const COLUMNS = 160;

const RIDGE_VERTEX = `
uniform float uTime;
out vec3 vPlace; // across -1...1, height of the ridge, distance 0...1
out float vDown;  // distance below the ridge's line in heights of the picture
void main() {
  float row = float(${RIDGES - 1} - gl_InstanceID);
  float moved = fract(uHead / 3.0);
  float far = (row + moved) / float(${RIDGES});
  float x = float(gl_VertexID >> 1) / float(${COLUMNS - 1}) * 2.0 - 1.0;
  bool low = (gl_VertexID & 1) == 1;
  float z = 1.0 + 8.5 * far * far + 2.0 * far;
  float age = (row + moved) * 3.0;
  float across = abs(x);
  // Low frequencies stand in the middle; both sides are mirrored with a small difference in time.
  float level = historyAt(0.03 + 0.9 * pow(across, 1.15), age + (x < 0.0 ? 1.5 : 0.0));
  float row0 = floor(uHead / 3.0) - row;
  float rock = 0.65 * noise(vec2(x * 7.0 + 31.0, row0 * 0.35)) + 0.35 * noise(vec2(x * 19.0 + 5.0, row0 * 0.6));
  float h = pow(level, 1.7) * (0.95 - 0.45 * across) * (0.55 + 0.6 * rock) + 0.10 * rock + 0.05;
  h *= smoothstep(1.15, 0.55, across) * 0.75 + 0.07;
  h *= smoothstep(0.0, 0.06, far + 0.02);
  float aspect = uSize.x / uSize.y;
  float spread = max(aspect, 1.2) * 1.25;
  float sway = 0.05 * sin(uTime * 0.11) * far * 3.0;
  vec2 ground = vec2(x * spread * (1.0 + 1.6 * far) + sway, -0.62);
  vec2 top = vec2(ground.x, ground.y + h * 1.15) / z * 1.35 + vec2(0.0, 0.05);
  vec2 p = top;
  if (low) p.y = row < 2.5 ? -1.3 : ground.y / z * 1.35 + 0.05 - 0.16;
  vDown = (top.y - p.y) * 0.5;
  vPlace = vec3(x, h, far);
  gl_Position = vec4(p.x / aspect, p.y, 0.0, 1.0);
}`;

const RIDGE = `
in vec3 vPlace;
in float vDown;
out vec4 color;
uniform sampler2D uColors;
void main() {
  float far = vPlace.z, haze = smoothstep(0.05, 1.0, far);
  float px = 1.0 / uSize.y;
  vec3 line = texture(uColors, vec2(saturate(vPlace.y * 1.05), 0.17)).rgb;
  vec3 air = texture(uColors, vec2(0.42 + 0.33 * haze, 0.5)).rgb;
  float wide = mix(1.5, 0.75, far);
  float edge = smoothstep(wide + 1.0, wide - 0.5, vDown / px);
  float glow = exp(-vDown * mix(26.0, 60.0, far)) * (0.10 + 0.55 * vPlace.y);
  vec3 body = mix(vec3(0.004, 0.006, 0.016), air * 0.34, haze * haze);
  float strength = mix(1.0, 0.30, haze) * (0.25 + 1.25 * vPlace.y) * (0.75 + 0.35 * uDrive);
  vec3 c = body + line * (edge * strength + glow * mix(0.5, 0.18, haze));
  float side = smoothstep(1.0, 0.9, abs(vPlace.x));
  color = vec4(mix(body, c, side), 1.0);
}`;

const SKY = `
uniform sampler2D uColors;
uniform float uTime;
void main() {
  vec2 p = vec2((vUV.x - 0.5) * uSize.x / uSize.y, vUV.y - 0.5);
  float height = saturate((vUV.y - 0.42) / 0.58);
  vec3 c = texture(uColors, vec2(1.0 - pow(height, 0.62) * 0.98, 0.5)).rgb * (0.55 + 0.12 * uDrive);
  vec2 cell = floor(p * 60.0);
  vec2 place = hash2(cell + 40.0);
  float d = length(p * 60.0 - cell - 0.2 - 0.6 * place);
  float spot = max(0.045, 36.0 / uSize.y);
  float star = step(0.86, hash(cell + 900.0)) * pow(hash(cell + 333.0), 2.0) * exp(-d * d / (spot * spot)) * smoothstep(0.2, 0.8, height);
  c += vec3(0.8, 0.88, 1.0) * star * (0.5 + 0.3 * sin(uTime + 20.0 * place.x) + 0.9 * spectrumAt(0.5 + 0.5 * place.y));
  // The moon; its rim is the spectrum.
  vec2 m = p - vec2(0.0, 0.17 + 0.01 * sin(uTime * 0.1));
  float r = length(m), a = abs(atan(m.x, -m.y)) / PI;
  float size = 0.125 + 0.006 * uBeat.w;
  float disc = smoothstep(size, size - 2.0 / uSize.y, r);
  float maria = fbm(m * 13.0 + 4.0, 3);
  vec3 moon = mix(vec3(1.0, 0.86, 0.68), vec3(1.0, 0.62, 0.45), smoothstep(0.05, -0.12, m.y)) * (0.62 + 0.35 * smoothstep(0.3, 0.6, maria));
  float crown = pow(spectrumAt(0.04 + 0.9 * a), 1.5);
  float halo = exp(-max(0.0, r - size) * (30.0 - 21.0 * crown)) * (0.10 + 0.55 * crown * uDrive) + 0.10 * exp(-max(0.0, r - size) * 5.0);
  // The disc covers the halo, so that it stays a disc.
  c = mix(c + vec3(1.0, 0.55, 0.42) * halo, moon, disc);
  // Thin clouds before the moon and over the horizon.
  float cloud = smoothstep(0.45, 0.85, fbm(vec2(p.x * 1.6 + uTime * 0.02, p.y * 9.0), 4)) * smoothstep(0.75, 0.2, height);
  c = mix(c, texture(uColors, vec2(0.86, 0.5)).rgb * 0.5, cloud * 0.35);
  float shown = mix(1.0, disc, uTransparent);
  color = vec4(c * shown + (1.0 - shown) * vec3(1.0, 0.55, 0.42) * halo * 0.7, shown);
}`;

export default {
    name: "Night Massif",
    description: "Past spectra as mountain ridges under a rising moon",
    look: { bloom: 0.10, vignette: 0.3 },
    create(gl, { random, graphics }) {
        const sky = graphics.program(SKY);
        const ridge = graphics.program(RIDGE, { vertex: RIDGE_VERTEX });
        const colors = graphics.gradient([
            ["#2b3f73", "#3f86b5", "#8fe3e0", "#fff1d0", "#ff9e6d"],
            ["#04060f", "#0a1230", "#1f2a5c", "#553a72", "#a14d6b", "#e58a63"],
            ["#000000", "#ffffff"],
        ]);
        let time = random() * 300;
        return {
            render(frame, target) {
                time += frame.step;
                graphics.draw(sky, target, { uColors: colors, uTime: time });
                graphics.draw(ridge, target, { uColors: colors, uTime: time }, {
                    blend: "over", mode: gl.TRIANGLE_STRIP, count: COLUMNS * 2, instances: RIDGES,
                });
            },
        };
    },
};
