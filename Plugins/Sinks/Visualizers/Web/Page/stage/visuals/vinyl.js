// A record in raking light: the music of the last seconds is the relief of its grooves and runs from the rim to the label.

const RECORD = `
uniform sampler2D uColors;
uniform float uTime, uTurn;
float groove(float angle, float r) {
  float f = abs(fract(angle / TAU * 2.0) * 2.0 - 1.0);
  return historyAt(0.04 + 0.88 * f, (1.0 - r) * 290.0);
}
float capsule(vec2 p, vec2 a, vec2 b) {
  vec2 d = b - a;
  return length(p - a - d * saturate(dot(p - a, d) / dot(d, d)));
}
void main() {
  vec2 screen = centred(vUV);
  // A camera above the front edge looks down at the record on the plane y = 0.
  vec3 eye = vec3(0.25 * sin(uTime * 0.07), 2.05 + 0.12 * sin(uTime * 0.05), -1.72);
  vec3 ahead = normalize(vec3(0.12, 0.0, -0.10) - eye), right = normalize(cross(vec3(0, 1, 0), ahead)), up = cross(ahead, right);
  vec3 ray = normalize(ahead * 1.18 + right * screen.x + up * screen.y);
  vec3 hit = eye - ray * (eye.y / min(ray.y, -1e-3));
  vec2 q = hit.xz;
  float r = length(q), angle = atan(q.y, q.x), px = length(hit - eye) * 1.4 / uSize.y;
  vec2 radial = q / max(r, 1e-4);
  vec3 toEye = -ray;
  vec3 lamp = normalize(vec3(0.8 * cos(uTime * 0.09), 1.1, 1.0 + 0.25 * sin(uTime * 0.09)) * 1.6 - hit);
  vec3 halfway = normalize(lamp + toEye);

  // Table.
  float pool = exp(-dot(q - vec2(0.1, 0.25), q - vec2(0.1, 0.25)) * 0.55);
  float grainLine = fbm(vec2(q.x * 1.6 + 0.25 * fbm(q * 1.5, 2), q.y * 24.0), 3);
  vec3 c = mix(vec3(0.020, 0.012, 0.008), vec3(0.085, 0.042, 0.020), grainLine) * (0.12 + 0.9 * pool);
  float ground = 1.0 - uTransparent;
  c *= 1.0 - 0.75 * smoothstep(1.28, 1.06, length(q - vec2(0.03, -0.05)));
  float alpha = 0.0;
  c *= ground;

  // Platter with the dots of a stroboscope.
  float platter = smoothstep(1.105 + px, 1.105, r);
  vec3 metal = vec3(0.055, 0.056, 0.062) * (0.6 + 1.4 * pow(1.0 - abs(dot(halfway.xz, vec2(-radial.y, radial.x))), 9.0));
  float dot0 = fract((angle + uTurn) / TAU * 120.0) - 0.5;
  float dots = smoothstep(0.010 + px * 0.5, 0.010, length(vec2(dot0 * TAU / 120.0 * 1.06, r - 1.062)));
  metal += vec3(1.0, 0.46, 0.20) * dots * (0.10 + 0.20 * uDrive + 0.9 * uBeat.w * uDrive);
  c = mix(c, metal, platter);
  alpha = max(alpha, platter);

  // Vinyl: narrow grooves reflect across their direction, and split the light into colours.
  if (r < 1.02) {
    float turn = angle + uTurn;
    float level = groove(turn, r);
    float slope = (groove(turn, r + 0.006) - level) * 2.6;
    float sideways = (groove(turn + 0.012, r) - level) * 1.4;
    float fine = sin(r * 780.0) * smoothstep(0.0045, 0.0012, px);
    vec3 normal = normalize(vec3(radial * (slope + 0.10 * fine) + vec2(-radial.y, radial.x) * sideways, 1.0).xzy);
    vec3 tangent = vec3(-radial.y, 0.0, radial.x);
    float across = dot(halfway, normalize(tangent + normal * 0.25 * sideways));
    float sheen = pow(max(0.0, 1.0 - across * across), 46.0) * saturate(dot(normal, lamp) * 1.4);
    float gloss = pow(max(0.0, dot(normal, halfway)), 60.0);
    float order = dot(halfway.xz, radial) * 2.6 + slope * 0.35 + level * 0.25 + uTime * 0.02;
    vec3 rainbow = texture(uColors, vec2(fract(order), 0.25)).rgb;
    vec3 heat = texture(uColors, vec2(saturate(level * 1.05), 0.75)).rgb;
    float play = smoothstep(0.985, 0.975, r) * smoothstep(0.375, 0.40, r);
    float bands = 0.82 + 0.18 * smoothstep(0.2, 0.8, noise(vec2(r * 30.0, 3.0)));
    vec3 vinyl = vec3(0.0045, 0.0045, 0.0055);
    vec3 split = mix(vec3(0.9, 0.86, 0.8), rainbow, 0.55) * sheen * (0.22 + 0.85 * level) + rainbow * gloss * 0.09;
    vinyl += split * play * bands * (0.75 + 0.25 * fine);
    float fresh = 0.20 + 0.75 * exp(-(1.0 - r) * 6.0) * (0.4 + uBeat.w);
    vinyl += heat * level * level * play * fresh * (0.75 + 0.5 * max(0.0, slope * 4.0)) * (0.35 + uDrive);
    vinyl += vec3(0.30, 0.28, 0.26) * pow(max(0.0, 1.0 - across * across), 30.0) * (1.0 - play) * 0.10;
    // Label with the signs of three against two.
    if (r < 0.36) {
      float la = turn;
      vec2 l = r * vec2(cos(la), sin(la));
      float label = smoothstep(0.335 + px, 0.335, r);
      vec3 paper = mix(vec3(0.60, 0.060, 0.028), vec3(0.68, 0.10, 0.035), fbm(l * 30.0, 2));
      float part = TAU / 3.0, local = mod(la, part) - part * 0.5;
      float triangle = abs(r * cos(local) - 0.24 * 0.5);
      vec3 cream = vec3(0.86, 0.76, 0.56);
      paper = mix(paper, cream, smoothstep(0.004 + px, 0.004, triangle) * step(r, 0.245));
      paper = mix(paper, cream, smoothstep(0.017 + px, 0.017, min(length(l - vec2(0.075, 0.0)), length(l + vec2(0.075, 0.0)))));
      paper = mix(paper, cream, smoothstep(0.0025 + px, 0.0025, abs(r - 0.295)));
      paper *= (0.35 + 0.75 * saturate(lamp.y) + 0.25 * uBeat.w * uDrive) * 0.9;
      paper += vec3(0.25) * pow(max(0.0, halfway.y), 90.0);
      vinyl = mix(vinyl, paper, label);
      vinyl = mix(vinyl, vec3(0.55, 0.54, 0.52) * (0.3 + pow(max(0.0, halfway.y), 20.0)), smoothstep(0.022 + px, 0.022, r));
    }
    c = mix(c, vinyl, smoothstep(1.0 + px, 1.0, r));
  }

  // Tone arm with its shadow.
  vec2 pivot = vec2(1.38, 0.62), elbow = vec2(1.13, -0.42), head = vec2(0.86, -0.60);
  float arm = min(capsule(q, pivot, elbow) - 0.020, capsule(q, elbow, head) - 0.020);
  arm = min(arm, capsule(q, head, head + vec2(-0.055, -0.035)) - 0.042);
  vec2 dark = q + vec2(-0.05, 0.06);
  float shadow = min(min(capsule(dark, pivot, elbow) - 0.02, capsule(dark, elbow, head) - 0.02), length(dark - pivot) - 0.16);
  c *= 1.0 - 0.6 * smoothstep(0.05, -0.01, shadow);
  float body = smoothstep(px, -px, arm), base = smoothstep(px, -px, length(q - pivot) - 0.15);
  vec3 steel = vec3(0.36, 0.37, 0.40) * (0.18 + 1.5 * pow(saturate(-arm / 0.02), 2.0) * (0.5 + 0.5 * saturate(halfway.y)));
  float hub = length(q - pivot);
  c = mix(c, vec3(0.035, 0.035, 0.04) * (0.5 + 2.5 * smoothstep(0.05, 0.15, hub) * smoothstep(0.152, 0.135, hub)), base);
  c = mix(c, steel, body);
  alpha = max(alpha, max(body, base));
  c += vec3(1.0, 0.5, 0.2) * exp(-length(q - head - vec2(-0.07, -0.05)) * 26.0) * (0.12 + 0.8 * uBeat.w) * uDrive;
  color = vec4(c, alpha);
}`;

export default {
    name: "Vinyl",
    description: "A record in raking light; the relief of its grooves is the music of the last seconds",
    look: { bloom: 0.14, vignette: 0.45 },
    create(gl, { random, graphics }) {
        const record = graphics.program(RECORD);
        const colors = graphics.gradient([
            ["#ff4d4d", "#ffb13d", "#f4f06a", "#4ddc8f", "#36a9ff", "#8a5cff", "#ff4d4d"],
            ["#0a0303", "#5a1408", "#d4501a", "#ffb550", "#fff1cf"],
        ]);
        let time = random() * 200;
        let turn = random() * 6.28;
        return {
            render(frame, target) {
                time += frame.step;
                turn = (turn + frame.step * (0.25 + 0.55 * frame.drive)) % (Math.PI * 2);
                graphics.draw(record, target, { uColors: colors, uTime: time, uTurn: turn });
            },
        };
    },
};
