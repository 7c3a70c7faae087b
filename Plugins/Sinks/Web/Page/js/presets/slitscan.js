// Two endless planes of light, made of past spectra, that run past the viewer: the slit-scan corridor of film, with music in the slit.

const CORRIDOR = `
uniform sampler2D uColors;
uniform float uTime, uRoll, uFlow;
vec3 plane(vec2 p, float side) {
  float z = 0.30 / max(abs(p.y), 0.0008);
  float x = p.x * z * 1.9;
  float age = z * 13.0;
  float across = abs(x) * 0.36 + 0.02;
  // Past the highest frequency the spectrum returns, weaker.
  float turns = floor(across);
  float f = mod(turns, 2.0) < 0.5 ? fract(across) : 1.0 - fract(across);
  float level = historyAt(f, age + 4.0 * side);
  level = pow(level, 2.2) * exp(-turns * 0.9);
  float row = uFlow - z * 2.2;
  // Threads along the direction of flight, and dashes across it.
  float thread = 0.35 + 0.65 * noise(vec2(x * 34.0 + side * 90.0, row * 0.15));
  float fine = noise(vec2(x * 150.0 + side * 31.0, row * 0.5 + 77.0));
  float blur = smoothstep(9.0, 1.5, z);
  float streak = mix(0.62, thread * (0.55 + 0.9 * fine * fine), blur);
  float hue = fract(0.16 * abs(x) + uTime * 0.017 + z * 0.02 + 0.21 * side);
  vec3 tint = texture(uColors, vec2(abs(hue * 2.0 - 1.0), uTime * 0.009 + 0.25 * side)).rgb;
  tint = mix(tint, tint * tint * 1.5, 0.6);
  vec3 hot = mix(tint, vec3(1.0, 0.95, 0.88), smoothstep(0.5, 1.3, level * streak));
  float fog = exp(-z * 0.036) * smoothstep(0.45, 1.1, z);
  float idle = 0.035 * thread * fine;
  return hot * (level * streak * (1.7 + 0.8 * uBeat.w) + idle) * fog;
}
void main() {
  vec2 p = (vUV - 0.5) * vec2(uSize.x / uSize.y, 1.0);
  p *= rotation(uRoll);
  p.x += 0.10 * sin(uTime * 0.13);
  p.y += 0.02 * sin(uTime * 0.21);
  // The planes bend a little, as a lens does.
  p *= 1.0 + 0.16 * dot(p, p);
  vec3 c = plane(p, sign(p.y));
  float horizon = exp(-abs(p.y) * (60.0 - 25.0 * uBeat.w)) * exp(-abs(p.x) * 2.6);
  vec3 glow = texture(uColors, vec2(0.62, uTime * 0.009 + 0.25 * sign(p.y))).rgb;
  c += glow * horizon * (0.05 + 0.42 * uDrive * (0.3 + 0.7 * uBeat.w));
  c += vec3(1.0, 0.96, 0.9) * exp(-abs(p.y) * 260.0) * exp(-abs(p.x) * 2.4) * (0.10 + 0.9 * uDrive);
  color = vec4(c, 0.0);
}`;

export default {
    name: "Slit Scan",
    description: "A flight between two planes of light made of past spectra",
    look: { bloom: 0.16, vignette: 0.3 },
    create(gl, { random, graphics }) {
        const corridor = graphics.program(CORRIDOR);
        const colors = graphics.gradient([
            ["#1e0a5c", "#5b1fd1", "#ff2e88", "#ff9b42", "#ffe7a0"],
            ["#00223a", "#0077a8", "#22d3c5", "#b8f26a", "#fff6c9"],
            ["#2a0733", "#b3123f", "#ff5a36", "#ffb347", "#fff0d1"],
            ["#04102e", "#1552c9", "#6d7dff", "#d38bff", "#ffd9f0"],
        ]);
        let time = random() * 300;
        let flow = 0;
        let roll = random() * 6.28;
        return {
            render(frame, target) {
                time += frame.step;
                flow += frame.step * (2 + 5 * frame.drive + 4 * frame.kick);
                roll += frame.step * (0.035 + 0.05 * Math.sin(time * 0.07));
                graphics.draw(corridor, target, { uColors: colors, uTime: time, uRoll: roll, uFlow: flow });
            },
            resize() {},
            dispose() { graphics.dispose(); },
        };
    },
};
