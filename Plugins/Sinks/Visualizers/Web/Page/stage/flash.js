// Flash safety after WCAG 2.3.1: a limiter that keeps the stage's picture at three flashes a second or less, whatever a preset draws.
//
// A flash is a pair of opposing changes of relative luminance of 10 % or more, where the darker state is below 0.80 (general flash), or
// a pair of opposing changes from or to a saturated red (red flash). Both count only if they cover more than a quarter of the picture.

/// Cells of the coarse grid on which flashes are limited.
export const flashGrid = { columns: 16, rows: 9 };

export const GENERAL_CHANGE = 0.1;
// WCAG states the red threshold as (R - G - B) x 320 > 20.
export const RED_CHANGE = 20 / 320;

// Four flashes in one second need eight opposing changes, that is a total change of 8 x 0.1 of luminance, or of 8 x 0.0625 of redness.
// The limiter gives every cell a budget of change: `capacity` at once, refilled by `rate` a second. Less than 0.75 (0.47 for red) can
// pass in any second, so that three flashes is the most. A change within the budget passes as it is.
const capacity = 0.25;
const rate = 0.42;
const redWeight = GENERAL_CHANGE / RED_CHANGE;

const REDUCE = `
uniform sampler2D uPicture;
uniform vec2 uTaps;
void main() {
  vec3 sum = vec3(0.0);
  vec2 cell = floor(gl_FragCoord.xy) / uSize;
  for (float y = 0.5; y < uTaps.y; y += 1.0)
    for (float x = 0.5; x < uTaps.x; x += 1.0) sum += texture(uPicture, cell + vec2(x, y) / uTaps / uSize).rgb;
  color = vec4(sum / (uTaps.x * uTaps.y), 1.0);
}`;

// The state of a cell: mean colour of the last picture shown, and the budget that is left.
const BUDGET = `
uniform sampler2D uBefore, uState;
uniform float uCapacity, uRefill, uRedWeight, uIsFirst;
vec2 measure(vec3 c) { return vec2(luminance(c), max(0.0, c.r - c.g - c.b)); }
void main() {
  ivec2 cell = ivec2(gl_FragCoord.xy);
  vec4 state = texelFetch(uState, cell, 0);
  vec3 shown = texelFetch(uBefore, cell, 0).rgb;
  vec2 spent = abs(measure(shown) - measure(state.rgb));
  float budget = min(uCapacity, state.a + uRefill) - max(spent.x, uRedWeight * spent.y);
  color = vec4(shown, uIsFirst > 0.5 ? uCapacity : budget);
}`;

const SHARE = `
uniform sampler2D uState, uWanted;
uniform float uRefill, uRedWeight, uCapacity;
vec2 measure(vec3 c) { return vec2(luminance(c), max(0.0, c.r - c.g - c.b)); }
void main() {
  ivec2 cell = ivec2(gl_FragCoord.xy);
  vec4 state = texelFetch(uState, cell, 0);
  vec2 change = abs(measure(texelFetch(uWanted, cell, 0).rgb) - measure(state.rgb));
  float cost = max(change.x, uRedWeight * change.y);
  float budget = max(0.0, min(uCapacity, state.a + uRefill));
  color = vec4(cost <= budget ? 1.0 : budget / cost);
}`;

// One pixel: the mean share of the limited cells, and their part of the picture.
const SUMMARY = `
uniform sampler2D uShare;
void main() {
  ivec2 size = textureSize(uShare, 0);
  vec2 sum = vec2(0.0);
  for (int y = 0; y < size.y; y++) for (int x = 0; x < size.x; x++) {
    float share = texelFetch(uShare, ivec2(x, y), 0).r;
    sum += share < 0.99 ? vec2(share, 1.0) : vec2(0.0);
  }
  color = vec4(sum.y > 0.0 ? sum.x / sum.y : 1.0, sum.y / float(size.x * size.y), 0.0, 1.0);
}`;

// The least share around a cell. When a large part of the picture is limited, the other cells follow, so that no borders appear.
const SPREAD = `
uniform sampler2D uShare, uSummary;
void main() {
  ivec2 cell = ivec2(gl_FragCoord.xy);
  float least = 1.0;
  for (int y = -1; y <= 1; y++) for (int x = -1; x <= 1; x++)
    least = min(least, texelFetch(uShare, clamp(cell + ivec2(x, y), ivec2(0), ivec2(uSize) - 1), 0).r);
  vec2 summary = texelFetch(uSummary, ivec2(0), 0).rg;
  color = vec4(mix(least, min(least, summary.x), smoothstep(0.08, 0.35, summary.y)));
}`;

const MIX = `
uniform sampler2D uPicture, uShown, uShare;
void main() {
  float share = smoothTexture(uShare, vUV).r;
  share = share > 0.996 ? 1.0 : share;
  color = mix(texture(uShown, vUV), texture(uPicture, vUV), share);
}`;

/// Limits the flashes of a sequence of pictures on the GPU.
///
/// Input and output are display-referred linear pictures. Where the picture of a cell changes by more than its budget, the cell moves
/// from the picture shown towards the new one by the share that the budget covers, as an afterglow does.
export class FlashLimiter {
    #graphics;
    #isCalm;
    #isFirst = true;

    /// Calm pictures change more slowly still: for people who prefer reduced motion.
    constructor(graphics, width, height, isCalm) {
        this.#graphics = graphics;
        this.#isCalm = isCalm;
        const { columns, rows } = flashGrid;
        this.reduceProgram = graphics.program(REDUCE);
        this.budgetProgram = graphics.program(BUDGET);
        this.shareProgram = graphics.program(SHARE);
        this.summaryProgram = graphics.program(SUMMARY);
        this.spreadProgram = graphics.program(SPREAD);
        this.mixProgram = graphics.program(MIX);
        this.shown = graphics.pair(width, height);
        this.half = graphics.target(columns * 8, rows * 8);
        this.wanted = graphics.target(columns, rows);
        this.before = graphics.target(columns, rows);
        this.state = graphics.pair(columns, rows);
        this.local = graphics.target(columns, rows);
        this.summary = graphics.target(1, 1);
        this.share = graphics.target(columns, rows);
    }

    resize(width, height) {
        this.#graphics.resizePair(this.shown, width, height);
    }

    #reduce(picture, target) {
        const graphics = this.#graphics;
        const taps = (from, to) => Math.min(8, Math.max(1, Math.ceil(from / to)));
        graphics.draw(this.reduceProgram, this.half, {
            uPicture: picture, uTaps: [taps(picture.width, this.half.width), taps(picture.height, this.half.height)],
        });
        graphics.draw(this.reduceProgram, target, { uPicture: this.half, uTaps: [8, 8] });
    }

    /// Returns the target that holds the picture to show. `dt` is the time since the last picture in seconds.
    apply(picture, dt) {
        const graphics = this.#graphics;
        const limits = {
            uCapacity: this.#isCalm ? capacity / 4 : capacity, uRefill: (this.#isCalm ? rate / 2 : rate) * Math.min(dt, 0.25),
            uRedWeight: redWeight,
        };
        const isFirst = this.#isFirst;
        if (isFirst) {
            // The first picture appears at once: one change, without an opposing one.
            graphics.clear(this.share, [1, 1, 1, 1]);
            this.#isFirst = false;
        } else {
            this.#reduce(picture, this.wanted);
            graphics.draw(this.shareProgram, this.local, { ...limits, uState: this.state.read, uWanted: this.wanted });
            graphics.draw(this.summaryProgram, this.summary, { uShare: this.local });
            graphics.draw(this.spreadProgram, this.share, { uShare: this.local, uSummary: this.summary });
        }
        graphics.draw(this.mixProgram, this.shown.write, {
            uPicture: picture, uShown: this.shown.read, uShare: this.share,
        });
        graphics.swap(this.shown);
        this.#reduce(this.shown.read, this.before);
        graphics.draw(this.budgetProgram, this.state.write, {
            ...limits, uState: this.state.read, uBefore: this.before, uIsFirst: isFirst ? 1 : 0,
        });
        graphics.swap(this.state);
        return this.shown.read;
    }
}
