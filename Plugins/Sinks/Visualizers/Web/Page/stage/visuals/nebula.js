// Ink in space: noise that is displaced by noise, lit by a hidden star. Bass swells the light, the middle twists the filaments, treble
// lights the stars.

const CLOUD = `
uniform sampler2D uColors;
uniform float uTime, uPush;
float ridged(vec2 p) {
  float sum = 0.0, amplitude = 0.5, last = 1.0;
  for (int i = 0; i < 4; i++) {
    float n = 1.0 - abs(2.0 * noise(p) - 1.0);
    n *= n;
    sum += amplitude * n * last;
    last = n;
    p = mat2(1.6, 1.2, -1.2, 1.6) * p + 9.7;
    amplitude *= 0.55;
  }
  return sum;
}
void main() {
  vec2 p = centred(vUV);
  p *= rotation(0.15 * sin(uTime * 0.05)) * (1.55 - 0.06 * uBeat.w);
  vec2 star = vec2(0.32 * sin(uTime * 0.061), 0.17 * cos(uTime * 0.083));
  vec2 q = vec2(fbm(p * 1.3 + vec2(0.0, uTime * 0.06), 3), fbm(p * 1.3 + vec2(5.2, 1.3 - uTime * 0.05), 3));
  vec2 r = vec2(fbm(p * 1.1 + 2.3 * q + vec2(1.7 - uTime * 0.04, 9.2), 4), fbm(p * 1.1 + 2.3 * q + vec2(8.3, 2.8 + uTime * 0.035), 4));
  vec2 s = p + (r - 0.5) * (1.9 + 0.25 * uPush);
  float density = smoothstep(0.18, 0.85, fbm(s * 1.6, 4));
  float filament = ridged(s * 1.35 + q * 0.7);
  float d = length(p - star - (r - 0.5) * 0.35);
  float light = exp(-d * (3.3 - 0.7 * uSoft.x * uDrive)) * (0.55 + 0.55 * uDrive + 0.75 * uBeat.w * uDrive);
  vec3 cool = texture(uColors, vec2(saturate(0.10 + 0.85 * r.x * density + 0.12 * q.y), 0.17)).rgb;
  vec3 warm = texture(uColors, vec2(saturate(filament * 1.15), 0.5)).rgb;
  vec3 ember = texture(uColors, vec2(saturate(light * 1.2), 0.83)).rgb;
  vec3 c = cool * (0.06 + 0.85 * density * density);
  c += warm * pow(filament, 2.4) * (0.20 + 2.6 * light + 0.25 * uDrive * uSoft.y) * smoothstep(0.1, 0.7, r.y);
  c += ember * light * (0.25 + 1.1 * density) * 1.35;
  // Dark veils in front of the light give depth.
  float veil = smoothstep(0.52, 0.72, fbm(s * 1.9 + 31.0, 4));
  c *= 1.0 - 0.82 * veil;
  color = vec4(c, density);
}`;

const STARS = `
uniform sampler2D uCloud;
uniform float uTime;
vec3 layer(vec2 p, float scale, float salt) {
  p *= scale;
  vec2 cell = floor(p), place = hash2(cell + salt);
  float exists = step(0.82, hash(cell + salt + 57.0));
  float size = 0.3 + 0.7 * hash(cell + salt + 113.0);
  float d = length(p - cell - 0.15 - 0.7 * place);
  float band = hash(cell + salt + 171.0);
  float twinkle = 0.30 + 0.25 * sin(uTime * (0.5 + band) + band * 40.0) + 2.4 * uDrive * pow(spectrumAt(0.35 + 0.6 * band), 2.0);
  vec3 tint = mix(vec3(1.0, 0.72, 0.5), vec3(0.62, 0.78, 1.0), hash(cell + salt + 7.0));
  float px = scale / uSize.y;
  return tint * exists * size * size * twinkle * exp(-d * d / (px * px * 1.3 + 0.0006));
}
void main() {
  vec4 cloud = texture(uCloud, vUV);
  vec2 p = centred(vUV);
  vec2 drift = vec2(uTime * 0.004, 0.0);
  vec3 stars = layer(p + drift, 17.0, 3.0) + layer(p + drift * 1.7 + 7.0, 31.0, 91.0) * 0.6 + layer(p + 3.0, 9.0, 211.0) * 1.4;
  color = vec4(cloud.rgb + stars * (1.0 - 0.75 * cloud.a), 0.0);
}`;

export default {
    name: "Ink Nebula",
    description: "Clouds of ink around a hidden star; treble lights the stars",
    look: { bloom: 0.13, vignette: 0.45 },
    create(gl, { width, height, random, graphics }) {
        const cloud = graphics.program(CLOUD);
        const stars = graphics.program(STARS);
        const colors = graphics.gradient([
            ["#050716", "#10204d", "#28347f", "#5b3f9e", "#a3489c"],
            ["#04050f", "#1b4f78", "#3fa7a8", "#ffd8a8"],
            ["#200818", "#a4243b", "#f08a4b", "#ffe8c2"],
        ]);
        const scale = 0.5;
        let soft = graphics.target(width * scale, height * scale);
        let time = random() * 500;
        let push = 0;
        return {
            render(frame, target) {
                time += frame.step * (0.7 + 1.5 * frame.drive + 2.2 * frame.kick);
                push += frame.step * 1.5 * (frame.bands.mid_att * frame.drive - push);
                graphics.draw(cloud, soft, { uColors: colors, uTime: time, uPush: push });
                graphics.draw(stars, target, { uCloud: soft, uTime: time });
            },
            resize(newWidth, newHeight) { soft = graphics.resized(soft, newWidth * scale, newHeight * scale); },
        };
    },
};
