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
  // The colour follows the frequency, and drifts along the flight.
  float hue = 0.10 + 0.78 * f + 0.16 * sin(row * 0.05 + uTime * 0.11);
  vec3 tint = texture(uColors, vec2(hue, uTime * 0.009 + 0.10 * side)).rgb;
  tint = mix(tint, tint * tint * 1.6, 0.5);
  vec3 hot = mix(tint, vec3(1.0, 0.95, 0.88), 0.8 * smoothstep(0.6, 1.4, level * streak));
  float fog = exp(-z * 0.036) * smoothstep(0.45, 1.1, z);
  float idle = 0.035 * thread * fine;
  return hot * (level * streak * (2.1 + 0.9 * uBeat.w) + idle) * fog;
}
void main() {
  vec2 p = centred(vUV);
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
            ["#ff8a1f", "#ff2e5f", "#c41fd1", "#5b2bff", "#1fa8ff"],
            ["#ff3d6e", "#a12bff", "#2b5bff", "#14c8e0", "#7dffe0"],
            ["#ffc23d", "#ff6a1f", "#e0214f", "#8a1fa8", "#4d3dff"],
            ["#1f6bff", "#14b8e0", "#4df0c8", "#ff9ad1", "#ff3d8a"],
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
        };
    },
};
