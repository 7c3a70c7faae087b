// A hemiola as a clock: a polygon with one corner for every beat of the bar, against a polygon with one corner less. Both hands take one
// bar for a turn and meet at the first beat. Ink on paper.

const DIAL = `
uniform float uTime, uMeter, uBar, uGain, uHit;
const vec3 INK = vec3(0.013, 0.024, 0.075), VERMILION = vec3(0.76, 0.072, 0.030);
const vec3 OCHRE = vec3(0.85, 0.42, 0.065), TEAL = vec3(0.020, 0.21, 0.24);

// Distance to a regular polygon with n corners (2: a line) on the circle of radius size, at the radius r and the angle a from the top.
float polygon(float r, float a, float n, float size) {
  if (n < 2.5) return max(abs(r * sin(a)), abs(r * cos(a)) - size);
  float part = TAU / n;
  return r * cos(mod(a, part) - part * 0.5) - size * cos(part * 0.5);
}
// A point that moves at constant speed along the polygon's edges; x in turns.
vec2 runner(float x, float n, float r) {
  float at = fract(x) * n, corner = floor(at), part = TAU / n;
  vec2 a = vec2(sin(corner * part), cos(corner * part)), b = vec2(sin((corner + 1.0) * part), cos((corner + 1.0) * part));
  return mix(a, b, at - corner) * r;
}
vec4 over(vec4 below, vec3 ink, float cover) { return vec4(mix(below.rgb, ink, cover), mix(below.a, 1.0, cover)); }
void main() {
  vec2 p = centred(vUV) / 1.03;
  float px = 1.05 / uSize.y;
  float grain = noise(p * vec2(160.0, 190.0)) * 0.5 + fbm(p * 7.0, 2) * 0.66;
  vec3 paper = vec3(0.86, 0.78, 0.63) * (0.93 + 0.10 * grain);
  vec4 c = vec4(paper * (1.0 - uTransparent), 1.0 - uTransparent);
  vec3 ink = mix(INK, vec3(0.88, 0.84, 0.74), uTransparent);
  float r = length(p), angle = atan(p.x, p.y), turn = fract(angle / TAU + 1.0);

  // The spectrum: ticks around the dial, mirrored.
  float tick = floor(turn * 144.0), middle = (tick + 0.5) / 144.0;
  float level = spectrumAt(0.03 + 0.92 * (1.0 - abs(middle * 2.0 - 1.0)));
  float reach = 0.405 + 0.007 + 0.062 * level * level;
  float across = abs(turn * 144.0 - tick - 0.5) / 144.0 * TAU * r;
  float mark = smoothstep(0.0016 + px, 0.0016, across) * step(0.405, r) * smoothstep(reach + px, reach, r);
  c = over(c, mix(ink, VERMILION, smoothstep(0.45, 0.85, level)), mark);

  // The waveform breathes in the ring.
  vec2 wave = waveAt(abs(turn * 2.0 - 1.0) * 0.9 + 0.05);
  float ring = 0.385 + 0.5 * (wave.x + wave.y) * uGain * 0.020;
  c = over(c, ink, smoothstep(0.0011 + px, 0.0011, abs(r - ring)) * 0.85);

  // Past positions of both polygons, the older the smaller.
  float many = uMeter, few = max(2.0, uMeter - 1.0);
  for (int i = 11; i >= 0; i--) {
    float age = float(i) / 11.0, size = 0.355 * pow(1.0 - age, 1.25) + 0.012;
    float lag = age * (0.85 + 0.15 * sin(uTime * 0.2));
    float fresh = 1.0 - age;
    float loud = historyAt(0.08, age * 60.0);
    float d2 = polygon(r, angle + uTime * 0.045 - lag * 1.1, few, size * 0.985);
    float d3 = polygon(r, angle - uTime * 0.06 + lag * 0.9, many, size);
    float wide = 0.0011 + 0.0026 * loud * fresh;
    if (i == 0) {
      c = over(c, OCHRE, smoothstep(px, 0.0, d2 - 0.004) * (few > 2.5 ? 0.16 : 0.9));
      c = over(c, VERMILION, smoothstep(px, 0.0, d3) * 0.10);
    }
    c = over(c, mix(ink, TEAL, 0.8), smoothstep(wide + px, wide, abs(d2)) * (0.28 + 0.70 * fresh * fresh));
    if (i % 3 == 1) c = over(c, i % 2 == 0 ? OCHRE : VERMILION, smoothstep(px, 0.0, d3) * (0.10 + 0.30 * loud * uDrive));
    c = over(c, VERMILION, smoothstep(wide + px, wide, abs(d3)) * (0.20 + 0.75 * fresh * fresh));
  }

  // Corners swell when their hand arrives; rings run outwards from them.
  for (int k = 0; k < 2; k++) {
    float n = k == 0 ? many : few, size = k == 0 ? 0.355 : 0.355 * 0.985;
    float lead = k == 0 ? -uTime * 0.06 : uTime * 0.045;
    vec2 q = r * vec2(sin(angle + lead), cos(angle + lead));
    vec3 tint = k == 0 ? VERMILION : TEAL;
    float now = floor(fract(uBar) * n + 1e-4), since = fract(fract(uBar) * n + 1e-4), part = TAU / n;
    float hit = uHit * exp(-since * 2.6);
    // The nearest corner, and the corner that the hand has passed last.
    float nearest = mod(round((angle + lead) / part), n);
    float swell = 0.006 + 0.013 * (abs(mod(nearest - now + 0.5, n) - 0.5) < 0.25 ? hit : 0.0);
    c = over(c, tint, smoothstep(swell + px, swell, length(q - vec2(sin(nearest * part), cos(nearest * part)) * size)));
    float wave = abs(length(q - vec2(sin(now * part), cos(now * part)) * size) - 0.016 - 0.10 * since);
    c = over(c, tint, hit * 0.7 * smoothstep(0.0014 + px, 0.0014, wave));
    vec2 hand = runner(uBar, n, size);
    c = over(c, ink, smoothstep(0.0085 + px, 0.0085, length(q - hand)));
    c = over(c, paper, smoothstep(0.0035 + px, 0.0035, length(q - hand)));
  }
  // The centre beats with the bass.
  float core = 0.016 + 0.012 * uBeat.w;
  c = over(c, ink, smoothstep(core + px, core, r));
  c.rgb *= mix(1.0, 0.94 + 0.06 * grain, 1.0 - uTransparent);
  color = c;
}`;

export default {
    name: "Hemiola Dial",
    description: "The beats of the bar as a polygon against one with a corner less: three against two, four against three",
    look: { bloom: 0.0, vignette: 0.22 },
    create(gl, { random, graphics, reducedMotion }) {
        const dial = graphics.program(DIAL);
        let time = random() * 60;
        let bar = 0;
        let meter = 3;
        let lastBeats = null;
        let gain = 1;
        return {
            render(frame, target) {
                time += frame.step * (0.4 + frame.drive);
                // The hands take the bar from the beat grid; without one they go on slowly.
                const advance = lastBeats === null ? 0 : Math.max(0, frame.beats - lastBeats);
                lastBeats = frame.beats;
                if (frame.beat.bar !== null) {
                    meter = Math.min(7, Math.max(3, frame.beat.beatsPerBar));
                    const goal = (((frame.beat.bar - 1) % meter) + frame.beat.phase) / meter;
                    let error = goal - (bar - Math.trunc(bar));
                    error -= Math.round(error);
                    bar += Math.max(0, advance / meter + error * (1 - Math.exp(-frame.dt / 0.15)));
                } else {
                    bar += advance / meter;
                }
                let greatest = 0.05;
                for (let index = 0; index < 1024; index += 8) greatest = Math.max(greatest, Math.abs(frame.waveform[index]));
                gain += (1 - Math.exp(-frame.dt / 0.4)) * (frame.drive / greatest - gain);
                const uHit = reducedMotion ? 0.25 : 0.35 + 0.65 * frame.drive;
                graphics.draw(dial, target, { uTime: time, uMeter: meter, uBar: bar % 1000, uGain: gain, uHit });
            },
        };
    },
};
