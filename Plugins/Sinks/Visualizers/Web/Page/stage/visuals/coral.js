// Gray-Scott reaction and diffusion: two substances grow a coral that never rests. Beats drop spores, bands move the conditions of
// growth, and rings of light run outwards with the music.

const FIELD = `
// Two numbers 0...1 with 16 bits each in four bytes: the same on every GPU, without float targets.
vec4 pack(vec2 x) {
  vec2 n = floor(clamp(x, 0.0, 1.0) * 65535.0 + 0.5), high = floor(n / 256.0);
  return vec4(high.x, n.x - 256.0 * high.x, high.y, n.y - 256.0 * high.y) / 255.0;
}
vec2 unpack(vec4 t) { t = floor(t * 255.0 + 0.5); return vec2(t.x * 256.0 + t.y, t.z * 256.0 + t.w) / 65535.0; }
`;

const START = `${FIELD}
uniform vec2 uSeed;
void main() {
  vec2 p = gl_FragCoord.xy;
  float n = noise(p * 0.11 + uSeed) * 0.6 + noise(p * 0.23 + uSeed * 3.0) * 0.4;
  float v = 0.42 * smoothstep(0.56, 0.62, n);
  color = pack(vec2(1.0 - 1.3 * v, v));
}`;

const REACT = `${FIELD}
uniform sampler2D uField;
uniform float uTime;
uniform vec3 uSpore; // position in texels, strength
vec2 at(ivec2 p, ivec2 size) { return unpack(texelFetch(uField, (p + size) % size, 0)); }
void main() {
  ivec2 p = ivec2(gl_FragCoord.xy), size = ivec2(uSize);
  vec2 here = at(p, size);
  vec2 sum = 0.2 * (at(p + ivec2(1, 0), size) + at(p - ivec2(1, 0), size) + at(p + ivec2(0, 1), size) + at(p - ivec2(0, 1), size));
  sum += 0.05 * (at(p + ivec2(1, 1), size) + at(p - ivec2(1, 1), size) + at(p + ivec2(1, -1), size) + at(p + ivec2(-1, 1), size));
  vec2 spread = sum - here;
  vec2 place = gl_FragCoord.xy / uSize.y;
  float zone = noise(place * 2.2 + vec2(uTime * 0.05, 3.0)), wander = noise(place * 1.6 - vec2(5.0, uTime * 0.04));
  float feed = mix(0.027, 0.050, zone) + 0.004 * (uSoft.y - 1.0) * uDrive;
  float kill = mix(0.0565, 0.0628, smoothstep(0.0, 1.0, zone)) + 0.0022 * (wander - 0.5);
  float rate = here.x * here.y * here.y;
  vec2 next = here + vec2(spread.x - rate + feed * (1.0 - here.x), 0.5 * spread.y + rate - (kill + feed) * here.y);
  vec2 d = gl_FragCoord.xy - uSpore.xy;
  float spore = uSpore.z * smoothstep(1.0, 0.2, abs(length(d) - 9.0) / 2.2);
  next += vec2(-0.5, 0.5) * spore * max(0.0, 0.5 - next.y);
  color = pack(next);
}`;

const HEIGHT = `${FIELD}
uniform sampler2D uField;
void main() {
  vec2 x = unpack(texelFetch(uField, ivec2(gl_FragCoord.xy), 0));
  color = vec4(x.y * 2.4, 1.0 - x.x, 0.0, 1.0);
}`;

const SHOW = `
uniform sampler2D uHeight, uColors;
uniform float uTime, uAspect;
void main() {
  vec2 p = centred(vUV);
  // The picture keeps the proportions of the field and covers the target.
  float wide = max(uSize.x / uSize.y, uAspect);
  vec2 uv = p / vec2(uAspect, 1.0) * (uAspect / wide < 1.0 ? uAspect / wide : 1.0) * 0.94 + 0.5;
  uv += 0.012 * vec2(sin(uTime * 0.11), cos(uTime * 0.09));
  vec2 part = 0.75 / vec2(textureSize(uHeight, 0));
  vec2 here = smoothTexture(uHeight, uv).rg;
  float x = smoothTexture(uHeight, uv + vec2(part.x, 0.0)).x - here.x, y = smoothTexture(uHeight, uv + vec2(0.0, part.y)).x - here.x;
  vec3 normal = normalize(vec3(-vec2(x, y) * 9.0, 1.0));
  float r = length(p);
  float wave = pow(historyAt(0.03 + 0.12 * noise(p * 3.0), r * 55.0), 2.0);
  float shimmer = pow(historyAt(0.35 + 0.5 * here.y, r * 24.0), 2.0);
  vec3 lamp = normalize(vec3(0.8 * sin(uTime * 0.17), 0.7 + 0.2 * cos(uTime * 0.13), 0.55));
  float lit = saturate(dot(normal, lamp)), rim = pow(1.0 - normal.z, 1.5);
  float gloss = pow(saturate(dot(normal, normalize(lamp + vec3(0.0, 0.0, 1.0)))), 42.0);
  float tone = saturate(here.x * 0.95 + 0.10 * sin(uTime * 0.05 + p.x * 2.0) + 0.12 * here.y - 0.05);
  float row = uTime * 0.008 + 0.22 * (noise(p * 1.4 + 9.0 + uTime * 0.03) - 0.5);
  vec3 body = texture(uColors, vec2(tone, row)).rgb;
  vec3 c = body * (0.03 + 0.95 * lit * lit) * (0.40 + 0.12 * uDrive + 0.75 * wave * uDrive);
  c += texture(uColors, vec2(0.80, row + 0.33)).rgb * rim * smoothstep(0.10, 0.45, here.x) * (0.02 + 0.35 * shimmer * uDrive) * saturate(0.5 - normal.y);
  c += vec3(1.0, 0.94, 0.86) * gloss * (0.22 + 0.5 * wave * uDrive) * smoothstep(0.25, 0.6, here.x);
  // Light that moves in the water above.
  float sea = fbm(p * 3.0 + vec2(uTime * 0.13, -uTime * 0.10), 3);
  c *= 0.80 + 0.65 * pow(1.0 - abs(2.0 * sea - 1.0), 6.0);
  float shown = mix(1.0, smoothstep(0.18, 0.5, here.x), uTransparent);
  color = vec4(c * shown, shown);
}`;

export default {
    name: "Coral Garden",
    description: "A reaction of two substances that grows coral; beats drop spores, and light runs through it with the bass",
    look: { bloom: 0.05, vignette: 0.5 },
    create(gl, { width, height, random, graphics }) {
        const react = graphics.program(REACT);
        const start = graphics.program(START);
        const relief = graphics.program(HEIGHT);
        const show = graphics.program(SHOW);
        const colors = graphics.gradient([
            ["#04182b", "#07405c", "#0f7f8a", "#d9433f", "#ff9a6b", "#ffe3bd"],
            ["#0c0a38", "#2a1f7a", "#6a3fc4", "#d14d9e", "#ff9db0", "#fff0dc"],
            ["#041f26", "#0a4f55", "#169a84", "#d98a2b", "#ffc766", "#fff3cf"],
        ]);
        const rows = Math.min(150, Math.max(60, Math.round(height / 2)));
        const columns = Math.min(360, Math.max(96, Math.round((rows * width) / height)));
        const field = graphics.pair(columns, rows, { format: [gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE], filter: gl.NEAREST, wrap: gl.REPEAT });
        const surface = graphics.target(columns, rows, { wrap: gl.REPEAT });
        let time = random() * 300;
        let pending = 0;
        let armed = true;
        const step = (spore) => {
            graphics.draw(react, field.write, { uField: field.read, uTime: time, uSpore: spore });
            graphics.swap(field);
        };
        graphics.draw(start, field.read, { uSeed: [random() * 900, random() * 900] });
        for (let index = 0; index < 160; index += 1) step([0, 0, 0]);
        return {
            render(frame, target) {
                time += frame.step;
                pending = Math.min(12, pending + frame.step * (150 + 260 * frame.drive));
                let spore = [0, 0, 0];
                if (armed && frame.kick > 0.35) {
                    armed = false;
                    spore = [random() * columns, random() * rows, 0.6 + 0.4 * frame.drive];
                } else if (frame.kick < 0.15) {
                    armed = true;
                }
                for (; pending >= 1; pending -= 1) {
                    step(spore);
                    spore = [0, 0, 0];
                }
                graphics.draw(relief, surface, { uField: field.read });
                graphics.draw(show, target, { uHeight: surface, uColors: colors, uTime: time, uAspect: columns / rows });
            },
        };
    },
};
