// Dye in a fluid: the Navier-Stokes equations on a small grid. Three jets, one for each band, wander around the middle and push with
// their band; the dye is lit like silk.

import { linearColor } from "../../analysis/colour.js";

const ADVECT = `
uniform sampler2D uVelocity, uSource;
uniform float uStep, uKeep;
void main() {
  vec2 aspect = vec2(uSize.x / uSize.y, 1.0);
  vec2 from = vUV - texture(uVelocity, vUV).xy * uStep / aspect;
  color = texture(uSource, from) * uKeep;
}`;

const PUSH = `
uniform sampler2D uVelocity;
uniform vec4 uJets[3];    // position, force
uniform float uTime, uStep;
float potential(vec2 p) { return noise(p * 3.0 + vec2(uTime * 0.10, 4.0)) + 0.5 * noise(p * 7.0 - vec2(0.0, uTime * 0.13)); }
void main() {
  vec2 p = centred(vUV);
  vec2 v = texture(uVelocity, vUV).xy;
  for (int i = 0; i < 3; i++) {
    vec2 d = p - uJets[i].xy;
    v += uJets[i].zw * exp(-dot(d, d) * 320.0) * uStep;
  }
  float here = potential(p);
  v += vec2(potential(p + vec2(0.0, 0.02)) - here, here - potential(p + vec2(0.02, 0.0))) / 0.02 * uStep * (0.06 + 0.20 * uDrive);
  v -= p * max(0.0, length(p) - 0.7) * uStep * 0.4;
  // Walls.
  vec2 wall = smoothstep(vec2(0.0), vec2(0.02), vUV) * smoothstep(vec2(0.0), vec2(0.02), 1.0 - vUV);
  color = vec4(v * wall.x * wall.y, 0.0, 1.0);
}`;

const DIVERGENCE = `
uniform sampler2D uVelocity;
void main() {
  vec2 t = 1.0 / uSize;
  float d = texture(uVelocity, vUV + vec2(t.x, 0)).x - texture(uVelocity, vUV - vec2(t.x, 0)).x
    + texture(uVelocity, vUV + vec2(0, t.y)).y - texture(uVelocity, vUV - vec2(0, t.y)).y;
  color = vec4(0.5 * d, 0.0, 0.0, 1.0);
}`;

const PRESSURE = `
uniform sampler2D uPressure, uDivergence;
void main() {
  vec2 t = 1.0 / uSize;
  float sum = texture(uPressure, vUV + vec2(t.x, 0)).x + texture(uPressure, vUV - vec2(t.x, 0)).x
    + texture(uPressure, vUV + vec2(0, t.y)).x + texture(uPressure, vUV - vec2(0, t.y)).x;
  color = vec4((sum - texture(uDivergence, vUV).x) * 0.25, 0.0, 0.0, 1.0);
}`;

const PROJECT = `
uniform sampler2D uPressure, uVelocity;
void main() {
  vec2 t = 1.0 / uSize;
  vec2 slope = 0.5 * vec2(texture(uPressure, vUV + vec2(t.x, 0)).x - texture(uPressure, vUV - vec2(t.x, 0)).x,
    texture(uPressure, vUV + vec2(0, t.y)).x - texture(uPressure, vUV - vec2(0, t.y)).x);
  color = vec4(texture(uVelocity, vUV).xy - slope, 0.0, 1.0);
}`;

const START = `
uniform vec3 uInks[8];
uniform vec2 uSeed;
void main() {
  vec2 p = centred(vUV);
  vec2 bend = vec2(fbm(p * 1.7 + uSeed, 3), fbm(p * 1.7 - uSeed, 3)) - 0.45;
  float band = 1.6 * (p.x + p.y * 0.4) + 2.4 * bend.x;
  vec3 ink = uInks[int(mod(floor(band * 4.0), 8.0))];
  float stripe = pow(0.5 + 0.5 * sin(band * 25.0), 3.0) * smoothstep(0.75, 0.2, length(p + bend * 0.6));
  color = vec4(ink * stripe * 0.55, 0.0);
}`;

const INK = `
uniform vec4 uJets[3];
uniform vec3 uInks[3];
uniform vec3 uAmounts;
void main() {
  vec2 p = centred(vUV);
  vec3 c = vec3(0.0);
  for (int i = 0; i < 3; i++) {
    vec2 d = p - uJets[i].xy;
    c += uInks[i] * uAmounts[i] * exp(-dot(d, d) * 520.0);
  }
  color = vec4(c, 0.0);
}`;

const SHOW = `
uniform sampler2D uDye;
void main() {
  vec2 t = 1.6 / uSize;
  vec3 c = texture(uDye, vUV).rgb;
  float level = luminance(c);
  float x = luminance(texture(uDye, vUV + vec2(t.x, 0)).rgb) - luminance(texture(uDye, vUV - vec2(t.x, 0)).rgb);
  float y = luminance(texture(uDye, vUV + vec2(0, t.y)).rgb) - luminance(texture(uDye, vUV - vec2(0, t.y)).rgb);
  vec3 normal = normalize(vec3(-vec2(x, y) / (0.10 + level) * uSize.y / 200.0, 1.0));
  vec3 lamp = normalize(vec3(-0.45, 0.65, 0.6));
  float lit = saturate(dot(normal, lamp));
  float gloss = pow(saturate(dot(normal, normalize(lamp + vec3(0.0, 0.0, 1.0)))), 22.0);
  float cover = 1.0 - exp(-level * 3.2);
  vec3 tint = max(mix(vec3(level), c, 1.3), 0.0) / (level + 0.04);
  vec3 silk = tint * cover * (0.10 + 0.62 * lit) + (vec3(0.7) + 0.3 * tint) * gloss * cover * 0.28;
  vec2 p = vUV - 0.5;
  vec3 ground = mix(vec3(0.010, 0.012, 0.024), vec3(0.003, 0.003, 0.008), saturate(length(p) * 1.6));
  color = vec4(silk + ground * (1.0 - cover) * (1.0 - uTransparent), cover * 0.9);
}`;

export default {
    name: "Silk",
    description: "Dye in a fluid that three jets stir, one for each band; lit as silk",
    look: { bloom: 0.06, vignette: 0.4 },
    create(gl, { width, height, random, graphics }) {
        const programs = Object.fromEntries(
            Object.entries({
                advect: ADVECT, push: PUSH, divergence: DIVERGENCE, pressure: PRESSURE, project: PROJECT, start: START, ink: INK, show: SHOW,
            }).map(([name, source]) => [name, graphics.program(source)]));
        // Each jet takes the colours of the list in turn, so that the dye has stripes.
        const stops = ["#ff3b2f", "#ff9a1f", "#ffd9a0", "#12b5a5", "#1f5fff", "#7a2bff", "#ff2f86", "#ffb3c7"].map(linearColor);
        const rows = Math.min(128, Math.max(48, Math.round(height * 0.4)));
        const columns = Math.min(280, Math.max(80, Math.round((rows * width) / height)));
        const velocity = graphics.pair(columns, rows);
        const pressure = graphics.pair(columns, rows);
        const divergence = graphics.target(columns, rows);
        const share = 0.6;
        const dye = graphics.pair(width * share, height * share);
        graphics.draw(programs.start, dye.read, { uInks: Float32Array.from(stops.flat()), uSeed: [random() * 90, random() * 90] });
        let time = random() * 300;
        const jets = new Float32Array(12);
        const inks = new Float32Array(9);
        return {
            render(frame, target) {
                time += frame.step * (0.6 + 0.6 * frame.drive);
                const uStep = frame.step;
                const aspect = target.width / target.height;
                const { bands, drive, kick } = frame;
                const power = [0.15 + 1.3 * kick + 0.25 * bands.bass_att, 0.35 * bands.mid + 0.1, 0.35 * bands.treb + 0.1];
                const amounts = [];
                for (let index = 0; index < 3; index += 1) {
                    const around = time * (0.23 + 0.03 * index) * (index === 1 ? -1 : 1) + (index * 2 * Math.PI) / 3;
                    const radius = 0.24 + 0.08 * Math.sin(time * 0.31 + index * 2);
                    const aim = around + Math.PI * (0.62 + 0.22 * Math.sin(time * 0.53 + index));
                    const force = 0.8 + 12 * drive * power[index];
                    jets.set([
                        Math.cos(around) * radius * Math.min(1.6, aspect), Math.sin(around) * radius,
                        Math.cos(aim) * force, Math.sin(aim) * force,
                    ], index * 4);
                    const place = (time * 0.55 + index * 2.66) % stops.length;
                    const first = stops[Math.trunc(place)];
                    const second = stops[(Math.trunc(place) + 1) % stops.length];
                    const part = Math.min(1, Math.max(0, (place - Math.trunc(place)) * 3 - 1));
                    for (let k = 0; k < 3; k += 1) inks[index * 3 + k] = first[k] * (1 - part) + second[k] * part;
                    const stripe = 0.12 + 1.2 * Math.sin(time * (4.1 + index)) ** 4;
                    amounts.push(uStep * stripe * (1.6 + 13 * drive * power[index]));
                }
                graphics.draw(programs.advect, velocity.write, {
                    uVelocity: velocity.read, uSource: velocity.read, uStep, uKeep: Math.exp(-uStep * 0.25),
                });
                graphics.swap(velocity);
                graphics.draw(programs.push, velocity.write, { uVelocity: velocity.read, uJets: jets, uTime: time, uStep });
                graphics.swap(velocity);
                graphics.draw(programs.divergence, divergence, { uVelocity: velocity.read });
                for (let round = 0; round < 14; round += 1) {
                    graphics.draw(programs.pressure, pressure.write, { uPressure: pressure.read, uDivergence: divergence });
                    graphics.swap(pressure);
                }
                graphics.draw(programs.project, velocity.write, { uPressure: pressure.read, uVelocity: velocity.read });
                graphics.swap(velocity);
                graphics.draw(programs.advect, dye.write, {
                    uVelocity: velocity.read, uSource: dye.read, uStep, uKeep: Math.exp(-uStep / 8),
                });
                graphics.draw(programs.ink, dye.write, { uJets: jets, uInks: inks, uAmounts: amounts }, { blend: "add" });
                graphics.swap(dye);
                graphics.draw(programs.show, target, { uDye: dye.read });
            },
            resize(newWidth, newHeight) { graphics.resizePair(dye, newWidth * share, newHeight * share); },
        };
    },
};
