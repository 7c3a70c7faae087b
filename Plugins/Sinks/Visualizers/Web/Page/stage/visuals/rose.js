// A rose window of past spectra: overlapping circles divide it into panes, the radius is time, and each pane shines with one band. The
// sun behind it moves with the bass.

const WINDOW = `
uniform sampler2D uColors;
uniform float uTime, uPetals;
// Nearest of the n circles of radius size whose centres lie on the circle of radius ring: distance to the border, and inside or not.
vec2 petals(float r, float a, float n, float ring, float size) {
  float part = TAU / n;
  float local = mod(a + part * 0.5, part) - part * 0.5;
  float best = 1.0, inside = 0.0;
  for (int k = -1; k <= 1; k++) {
    vec2 d = r * vec2(cos(local), sin(local)) - ring * vec2(cos(float(k) * part), sin(float(k) * part));
    float distance = length(d) - size;
    best = min(best, abs(distance));
    inside += step(distance, 0.0);
  }
  return vec2(best, inside);
}
void main() {
  vec2 p = centred(vUV);
  float r = length(p) * 2.06, a = atan(p.y, p.x), px = 2.3 / uSize.y;
  float n = uPetals;
  float slow = uTime * 0.035;
  vec2 one = petals(r, a + slow, n, 0.30, 0.30 + 0.02 * sin(uTime * 0.13));
  vec2 two = petals(r, a - slow * 0.8, n, 0.58 + 0.02 * sin(uTime * 0.17), 0.235);
  vec2 three = petals(r, a + slow * 0.6 + PI / n, n * 2.0, 0.84, 0.115);
  float rings = min(min(abs(r - 0.128), abs(r - 0.725)), min(abs(r - 0.955), abs(r - 0.37)));
  float edge = min(min(one.x, two.x), min(three.x, rings));
  float zone = step(0.128, r) + step(0.37, r) + step(0.725, r) + step(0.955, r);
  float id = one.y + 4.0 * two.y + 16.0 * step(0.5, three.y) + 32.0 * zone;
  float band = hash(vec2(id, 5.0)), hue = hash(vec2(id, 71.0));
  // Mirrored sectors: each has its own moment, so that light runs around the window.
  float sector = abs(mod((a + slow) / TAU * n * 2.0, 2.0) - 1.0);
  float f = mix(0.04 + 0.28 * band, 0.30 + 0.62 * band, smoothstep(0.1, 0.95, r));
  float level = historyAt(f + 0.02 * sector, r * 26.0 + 6.0 * sector);
  float lit = pow(level, 3.0) * 2.1;
  float glass = fbm(p * 19.0 + id * 3.7, 3), ripple = fbm(p * vec2(46.0, 60.0) + id, 2);
  vec3 tint = texture(uColors, vec2(saturate(hue * 0.92 + 0.16 * (glass - 0.5)), (floor(hash(vec2(id, 13.0)) * 3.0) + 0.5) / 3.0)).rgb;
  vec2 sun = 0.16 * vec2(sin(uTime * 0.12), cos(uTime * 0.10));
  float d = length(p - sun);
  float shine = exp(-d * (2.5 - 0.8 * uBeat.w)) * (0.55 + 0.5 * uDrive + 0.75 * uBeat.w * uDrive) + 0.10;
  vec3 c = tint * (shine * 0.64 + lit * (0.35 + 1.55 * uDrive)) * (0.62 + 0.55 * glass + 0.25 * ripple);
  c = mix(c, c.rrr * vec3(1.0, 0.9, 0.72) + c, 0.10 * smoothstep(0.5, 1.2, lit));
  // Lead between the panes, rounded, with a little light at its rim.
  if (r < 0.125) edge = 0.128 - r;
  float lead = smoothstep(0.0055 + px, 0.0045, edge);
  float shade = smoothstep(0.0, 0.045, edge);
  c *= (0.45 + 0.55 * shade) * (1.0 - lead);
  c += vec3(0.030, 0.026, 0.024) * lead * (0.4 + 1.6 * shine) * smoothstep(0.0, 0.006, edge);
  // The middle: a small sun.
  float heart = smoothstep(0.128, 0.128 - px, r);
  float flower = 0.088 + 0.026 * cos(n * (a - slow));
  vec3 ruby = texture(uColors, vec2(0.35 + 0.2 * uBeat.w, 0.5)).rgb, gold = texture(uColors, vec2(0.8, 0.833)).rgb;
  vec3 sunlight = mix(ruby, gold, smoothstep(flower + 0.012, flower - 0.012, r)) * (0.75 + 0.5 * glass);
  sunlight *= (0.35 + 0.55 * uBeat.w * uDrive + 0.25 * spectrumAt(0.1)) * (1.0 - 0.9 * smoothstep(0.008, 0.003, abs(r - flower)));
  c = mix(c, sunlight, heart * (1.0 - lead));
  // Stone around the window, and rays of coloured light on it.
  float outside = smoothstep(1.0 - px, 1.0 + px, r);
  float ray = pow(historyAt(0.05 + 0.8 * abs(fract((a + slow) / TAU * n) * 2.0 - 1.0), 10.0 + r * 12.0), 2.0);
  vec3 wall = vec3(0.005, 0.005, 0.009) * (0.6 + 0.8 * fbm(p * 6.0, 3)) * (1.0 - uTransparent);
  float around = 0.2 + 0.7 * abs(fract((a + slow) / TAU * 3.0) * 2.0 - 1.0);
  wall += texture(uColors, vec2(around, 0.5)).rgb * exp(-(r - 1.0) * 2.6) * (0.02 + 0.30 * ray * uDrive);
  float frame = smoothstep(0.018 + px, 0.018, abs(r - 1.0));
  c = mix(c, wall, outside);
  c = mix(c, vec3(0.035, 0.031, 0.030) * (0.5 + 2.0 * shine + 0.6 * glass), frame);
  color = vec4(c, max(frame, (1.0 - outside) * 0.85));
}`;

export default {
    name: "Rose Window",
    description: "A stained-glass rose whose panes shine with past spectra, from the middle outwards",
    look: { bloom: 0.17, vignette: 0.25 },
    create(gl, { random, graphics }) {
        const rose = graphics.program(WINDOW);
        const colors = graphics.gradient([
            ["#0b1f6b", "#1448c8", "#2a8be0", "#58c4e8"], ["#5c0a1e", "#c3122f", "#f2542d", "#f7b538"],
            ["#3a0f5c", "#0f8f8a", "#2fc29a", "#ffc93c", "#ffe9a8"],
        ]);
        const petals = [8, 9, 10, 12][Math.trunc(random() * 4)];
        let time = random() * 300;
        return {
            render(frame, target) {
                time += frame.step * (0.7 + 0.8 * frame.drive);
                graphics.draw(rose, target, { uColors: colors, uTime: time, uPetals: petals });
            },
        };
    },
};
