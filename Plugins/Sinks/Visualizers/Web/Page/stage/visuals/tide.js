// A feedback field: the waveform draws a ribbon of light, and a slow current carries its light outwards while its hue turns.

const WARP = `
uniform sampler2D uLast;
uniform float uTime, uStep;
void main() {
  vec2 aspect = vec2(uSize.x / uSize.y, 1.0);
  vec2 p = (vUV - 0.5) * aspect;
  float r = length(p);
  vec2 q = p * 2.6;
  vec2 flow = vec2(sin(q.y * 1.9 + uTime * 0.31 + 1.6 * sin(q.x * 1.3 - uTime * 0.23)),
                   sin(q.x * 1.7 - uTime * 0.27 + 1.5 * sin(q.y * 1.4 + uTime * 0.19)));
  float zoom = 0.10 + 0.32 * uBeat.w + 0.16 * uDrive;
  float spin = 0.22 * sin(uTime * 0.11) + 0.30 * sin(r * 3.5 - uTime * 0.37);
  vec2 move = -p * zoom * (0.45 + r) + vec2(-p.y, p.x) * spin + flow * (0.055 + 0.05 * uSoft.y);
  vec3 light = texture(uLast, vUV + move * uStep / aspect).rgb;
  // Turn the hue about the grey axis; older light is cooler.
  float angle = -0.55 * uStep, c = cos(angle), s = sin(angle), k = (1.0 - c) / 3.0, w = s * 0.57735;
  light = mat3(c + k, k + w, k - w, k - w, c + k, k + w, k + w, k - w, c + k) * light;
  color = vec4(max(light * exp(-uStep / 1.7) - 0.0004 * uStep, 0.0), 0.0);
}`;

const RIBBON = `
uniform float uTime, uSide;
out vec2 vPlace;
vec2 path(float s) {
  float idle = 0.035 * sin(s * 5.0 + uTime * 0.9 + uSide) * sin(s * 2.0 - uTime * 0.6);
  vec2 wave = vec2(0.0);
  for (int i = -3; i <= 3; i++) wave += waveAt(0.5 + 0.46 * s + float(i) * 0.0021) / 7.0;
  float shape = (uSide > 0.0 ? wave.x : wave.y) * 0.26 * (1.0 - s * s * s * s) + idle;
  vec2 p = vec2(s * 0.62, 0.13 * sin(s * 2.4 + uTime * 0.43) + uSide * (0.02 + 0.05 * cos(s * 3.0 + uTime * 0.31)) + shape);
  return rotation(0.8 * sin(uTime * 0.083) + uTime * 0.05) * p;
}
void main() {
  float s = float(gl_VertexID >> 1) / 255.0 * 2.0 - 1.0;
  float side = (gl_VertexID & 1) == 0 ? -1.0 : 1.0;
  vec2 p = path(s), ahead = path(s + 0.006) - path(s - 0.006);
  vec2 normal = normalize(vec2(-ahead.y, ahead.x) + 1e-6);
  float wide = 0.013 + 0.012 * uBeat.w;
  vPlace = vec2(s, side);
  gl_Position = vec4((p + normal * side * wide) * vec2(uSize.y / uSize.x, 1.0) * 2.0, 0.0, 1.0);
}`;

const BEAM = `
in vec2 vPlace;
out vec4 color;
uniform sampler2D uColors;
uniform float uTime, uAmount;
void main() {
  float profile = exp(-vPlace.y * vPlace.y * 5.0) + 1.6 * exp(-vPlace.y * vPlace.y * 60.0);
  vec3 light = texture(uColors, vec2(0.5 + 0.5 * sin(vPlace.x * 1.3 + uTime * 0.17), uTime * 0.013)).rgb;
  color = vec4(light * profile * (1.0 - pow(abs(vPlace.x), 6.0)) * uAmount, 0.0);
}`;

const SHOW = `
uniform sampler2D uLight;
void main() {
  vec2 t = 1.5 / uSize;
  vec3 c = texture(uLight, vUV).rgb;
  float x = luminance(texture(uLight, vUV + vec2(t.x, 0)).rgb) - luminance(texture(uLight, vUV - vec2(t.x, 0)).rgb);
  float y = luminance(texture(uLight, vUV + vec2(0, t.y)).rgb) - luminance(texture(uLight, vUV - vec2(0, t.y)).rgb);
  float level = luminance(c) + 0.02;
  float relief = (x * 0.6 + y * 0.8) / level;
  c *= 1.0 + clamp(relief * 1.6, -0.55, 0.9);
  // More saturation in the shade keeps the colours of old light.
  c = max(mix(vec3(level), c, 1.28), 0.0);
  c = c * 1.5 / (1.0 + 0.55 * level) + vec3(0.004, 0.006, 0.016) * (1.0 - uTransparent);
  color = vec4(c, 0.0);
}`;

export default {
    name: "Tidal Ribbon",
    description: "The waveform as a ribbon of light in a slow current that carries its colours outwards",
    look: { bloom: 0.10, vignette: 0.5 },
    create(gl, { width, height, random, graphics }) {
        const warp = graphics.program(WARP);
        const ribbon = graphics.program(BEAM, { vertex: RIBBON });
        const show = graphics.program(SHOW);
        const colors = graphics.gradient([
            ["#ff9b54", "#ffd06b", "#ff5d73"], ["#ffd06b", "#7bdff2", "#ff9b54"], ["#f7717d", "#ffb86b", "#c77dff"],
            ["#ffe29a", "#ff7b54", "#ff477e"],
        ]);
        const light = graphics.pair(width, height);
        let time = random() * 400;
        return {
            render(frame, target) {
                time += frame.step * (0.6 + 0.8 * frame.drive);
                graphics.draw(warp, light.write, { uLast: light.read, uTime: time, uStep: frame.step * (0.5 + 0.7 * frame.drive) });
                const uAmount = frame.step * (0.9 + 1.7 * frame.drive + 2.2 * frame.kick);
                for (const uSide of [-1, 1]) {
                    graphics.draw(ribbon, light.write, { uTime: time, uSide, uAmount, uColors: colors }, {
                        blend: "add", mode: gl.TRIANGLE_STRIP, count: 512,
                    });
                }
                graphics.swap(light);
                graphics.draw(show, target, { uLight: light.read });
            },
            resize(newWidth, newHeight) { graphics.resizePair(light, newWidth, newHeight); },
        };
    },
};
