// Tests of the stage and its presets in a browser: flashes after WCAG 2.3.1, differences between pictures, determinism, errors and
// the deletion of WebGL objects. Tests/Page/test_stage.py runs `tests`, a list of {name, slow, run}: `run` throws if the test fails, and
// slow tests run before a release only.

import { flashGrid } from "../stage/flash.js";
import { presets } from "../stage/visuals/index.js";
import { Stage } from "../stage/stage.js";
import { countFlashes } from "./flashes.js";
import { drumAndBass, framesOf, samplesOf, whiteNoise } from "./frames.js";

const WIDTH = 160;
const HEIGHT = 90;
const FPS = 60;
const MOST = 3;

function expect(condition, message) {
    if (!condition) throw new Error(message);
}

const decode = Float32Array.from({ length: 256 }, (_, byte) => {
    const value = byte / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
});

/// Runs a stage on a canvas of its own. `body` gets the stage, its context and the errors reported so far.
function withStage(options, body) {
    const canvas = document.createElement("canvas");
    const errors = [];
    const stage = new Stage(canvas, { seed: 11, adaptive: false, onerror: (error) => errors.push(error.message), ...options });
    expect(stage.names.length > 0, "this browser has no WebGL2");
    stage.resize(WIDTH, HEIGHT, 1);
    const gl = canvas.getContext("webgl2");
    try {
        const result = body(stage, gl, errors, canvas);
        expect(errors.length === 0, errors.join("; "));
        const code = gl.getError();
        expect(code === gl.NO_ERROR, `${stage.current}: WebGL error ${code}`);
        return result;
    } finally {
        stage.dispose();
    }
}

function pixelsOf(gl) {
    const pixels = new Uint8Array(WIDTH * HEIGHT * 4);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.readPixels(0, 0, WIDTH, HEIGHT, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    return pixels;
}

/// The mean linear RGB of the cells of the coarse grid.
function coarse(pixels) {
    const { columns, rows } = flashGrid;
    const cells = new Float32Array(columns * rows * 3);
    const share = (columns * rows) / (WIDTH * HEIGHT);
    for (let y = 0; y < HEIGHT; y += 1) {
        const row = Math.trunc((y * rows) / HEIGHT) * columns;
        for (let x = 0; x < WIDTH; x += 1) {
            const cell = (row + Math.trunc((x * columns) / WIDTH)) * 3;
            const at = (y * WIDTH + x) * 4;
            for (let k = 0; k < 3; k += 1) cells[cell + k] += decode[pixels[at + k]] * share;
        }
    }
    return cells;
}

/// A measured picture sequence: `change(number, stage)` is called before every frame.
function record(options, frames, change) {
    return withStage(options, (stage, gl) => frames.map((frame, number) => {
        change(number, stage);
        stage.render(frame);
        return coarse(pixelsOf(gl));
    }));
}

function expectSafe(pictures, name) {
    const { general, red } = countFlashes(pictures, FPS);
    expect(general <= MOST, `${name}: ${general} general flashes in one second`);
    expect(red <= MOST, `${name}: ${red} red flashes in one second`);
}

/// Frames whose bands, beat and level follow `isOn` from nothing to full scale.
function forced(frames, isOn) {
    return frames.map((frame, number) => {
        const on = isOn(number / FPS);
        const value = on ? 4 : 0;
        return {
            ...frame,
            bands: { bass: value, mid: value, treb: value, bass_att: value, mid_att: value, treb_att: value },
            beat: { pulse: on ? 1 : 0, phase: 0, bar: 1, beatsPerBar: 4, bpm: 174, confidence: 1 },
            level: on ? 1 : 0,
            spectrum: on ? new Float32Array(256).fill(1) : new Float32Array(256),
            silent: false,
        };
    });
}

const inputs = {
    /// Full-scale pulses on every 16th note at 174 BPM.
    "16th-note pulses": () => {
        const sixteenth = 60 / 174 / 4;
        const isOn = (time) => time % sixteenth < sixteenth / 2;
        return forced(framesOf(samplesOf(1.5, (time) => Array(2).fill(isOn(time) ? Math.sin(2 * Math.PI * 60 * time) : 0)), FPS), isOn);
    },
    /// Bursts of white noise, 50 ms in every 150 ms.
    "noise bursts": () => {
        const noise = whiteNoise();
        return framesOf(samplesOf(1.5, (time) => (time % 0.15 < 0.05 ? [noise(), noise()] : [0, 0]), { bpm: 174 }), FPS);
    },
    /// Silence and full scale in turn, ten times a second.
    "silence and full scale": () => {
        const isOn = (time) => time % 0.1 < 0.05;
        return forced(framesOf(samplesOf(1.5, (time) => (isOn(time) ? [1, -1] : [0, 0])), FPS), isOn);
    },
};

const cache = new Map();
function input(name, make) {
    if (!cache.has(name)) cache.set(name, make());
    return cache.get(name);
}

const music = () => input("music", () => framesOf(drumAndBass(1.5), 30));
const silence = () => input("silence", () => framesOf(samplesOf(1.5, () => [0, 0]), 30));

/// A preset that fills the picture with white or red and black in turn.
function blinking(name, light, perSecond) {
    return {
        name, description: "test", look: { bloom: 0, vignette: 0 },
        create(gl, { graphics }) {
            const program = graphics.program("uniform vec3 uLight; void main() { color = vec4(uLight, 1.0); }");
            let time = 0;
            return {
                render(frame, target) {
                    time += frame.dt;
                    graphics.draw(program, target, { uLight: (time * perSecond) % 1 < 0.5 ? light : [0, 0, 0] });
                },
            };
        },
    };
}

/// The mean difference of two pictures in 8-bit steps.
function difference(one, other) {
    let sum = 0;
    for (let index = 0; index < one.length; index += 1) sum += Math.abs(one[index] - other[index]);
    return sum / one.length;
}

function lastPicture(preset, frames, options = {}) {
    return withStage(options, (stage, gl) => {
        stage.load(preset, 0);
        for (const frame of frames) stage.render(frame);
        return pixelsOf(gl);
    });
}

const names = presets.map((preset) => preset.name);

/// A test of every visual. All but the first are slow.
function forEachVisual(name, run) {
    return names.map((visual, index) => ({ name: `${visual}: ${name}`, slow: index > 0, run: () => run(visual) }));
}

function expectDifferent(visuals) {
    const all = visuals.map((visual) => lastPicture(visual, music().slice(0, 20)));
    for (let one = 0; one < all.length; one += 1) {
        for (let other = 0; other < one; other += 1) {
            const steps = difference(all[one], all[other]);
            expect(steps > 4, `${visuals[one]} and ${visuals[other]} differ by ${steps} steps`);
        }
    }
}

export const tests = [
    ...[["white", [1, 1, 1], "general"], ["red", [0.9, 0, 0], "red"]].flatMap(([name, light, kind]) => [4, 10, 30].map((perSecond) => ({
        name: `limiter: a preset that blinks ${perSecond} times a second in ${name}: at most 3 flashes a second, more with strobe`,
        slow: perSecond !== 10,
        run() {
            const frames = input("silence at 60", () => framesOf(samplesOf(1.5, () => [0, 0]), FPS));
            const options = { presets: [blinking(name, light, perSecond)] };
            const start = (number, stage) => { if (number === 0) stage.load(name, 0); };
            expectSafe(record(options, frames, start), `${name} at ${perSecond} Hz`);
            const free = countFlashes(record({ ...options, strobe: true }, frames, start), FPS);
            expect(free[kind] > MOST, `${name} at ${perSecond} Hz with strobe: ${free[kind]} flashes are measured`);
        },
    }))),
    ...forEachVisual("worst-case input: at most 3 flashes a second over 25 % of the picture", (visual) => {
        for (const [name, make] of Object.entries(inputs)) {
            const frames = input(name, make);
            expectSafe(record({}, frames, (number, stage) => { if (number === 0) stage.load(visual, 0); }), `${visual}, ${name}`);
        }
    }),
    {
        name: "preset cuts every 200 ms: at most 3 flashes a second",
        run() {
            const frames = input("16th-note pulses", inputs["16th-note pulses"]);
            // The brightest and the darkest presets in turn.
            const order = ["Hemiola Dial", "Phosphor", "Hemiola Dial", "Silk", "Hemiola Dial", "Murmuration", "Hemiola Dial", "Slit Scan"];
            const cut = (number, stage) => { if (number % 12 === 0) stage.load(order[(number / 12) % order.length], 0); };
            expectSafe(record({}, frames, cut), "cuts");
        },
    },
    ...forEachVisual("music and silence: different pictures, and no picture is black or flat", (preset) => {
        const loud = lastPicture(preset, music());
        const quiet = lastPicture(preset, silence());
        expect(difference(loud, quiet) > 1, `${preset}: music and silence differ by ${difference(loud, quiet)} steps`);
        for (const picture of [loud, quiet]) {
            expect(Math.max(...picture.filter((_, index) => index % 4 !== 3)) > 40, `${preset}: black picture`);
        }
    }),
    { name: "two visuals: different pictures", run: () => expectDifferent(names.slice(0, 2)) },
    { name: "every two visuals: different pictures", slow: true, run: () => expectDifferent(names) },
    ...forEachVisual("same seed and frames: same picture; another seed: another picture", (preset) => {
        const frames = music().slice(0, 12);
        const first = lastPicture(preset, frames);
        expect(difference(first, lastPicture(preset, frames)) === 0, `${preset}: two runs differ`);
        expect(difference(first, lastPicture(preset, frames, { seed: 12 })) > 0.2, `${preset}: the seed has no effect`);
    }),
    ...forEachVisual("transparent: silence: background has alpha 0, colours are premultiplied", (preset) => {
        withStage({ transparent: true }, (stage, gl) => {
            stage.load(preset, 0);
            for (const frame of silence().slice(0, 6)) stage.render(frame);
            const pixels = pixelsOf(gl);
            let clear = 0;
            for (let at = 0; at < pixels.length; at += 4) {
                const alpha = pixels[at + 3];
                if (alpha < 64) clear += 1;
                expect(Math.max(pixels[at], pixels[at + 1], pixels[at + 2]) <= alpha + 1, `${preset}: colour above alpha`);
            }
            expect(clear > WIDTH * HEIGHT * 0.05, `${preset}: only ${clear} pixels are transparent`);
        });
    }),
    {
        name: "blend: between two presets: pictures move from one to the other without an error",
        run() {
            withStage({}, (stage, gl) => {
                const frames = music();
                stage.load(names[0], 0);
                for (const frame of frames.slice(0, 5)) stage.render(frame);
                const before = pixelsOf(gl);
                expect(stage.load(names[1], 0.5), "load returns false");
                expect(stage.current === names[1], "current is the new preset");
                stage.render(frames[5]);
                expect(difference(before, pixelsOf(gl)) < 12, "the blend starts with a cut");
                stage.resize(WIDTH, HEIGHT, 1);
                for (const frame of frames.slice(6, 40)) stage.render(frame);
                expect(difference(before, pixelsOf(gl)) > 4, "the blend has no effect");
                expect(!stage.load("no such preset", 0) && stage.current === names[1], "an unknown name is accepted");
            });
        },
    },
    ...forEachVisual("frames without bpm and bar, after a pause, with speed 0.1 and reduced motion: no error", (preset) => {
        withStage({ reducedMotion: true }, (stage) => {
            stage.load(preset, 0);
            stage.render({ ...silence()[0], speed: 0.1 });
            stage.render({ ...silence()[1], dt: 5 });
            stage.resize(80, 60, 1);
            stage.render(music()[3]);
            stage.resize(WIDTH, HEIGHT, 1);
        });
    }),
    {
        name: "a preset that throws or does not compile: reported with its name, the plain picture takes its place until another is loaded",
        run() {
            const broken = (name, create) => ({ name, description: "test", create });
            const list = [
                broken("Throws", () => ({ render() { throw new Error("render failed"); } })),
                broken("Syntax", (gl, { graphics }) => { graphics.program("void main() { nothing }"); }),
                presets[0],
            ];
            for (const [name, text] of [["Throws", "render failed"], ["Syntax", "shader compilation failed"]]) {
                const errors = [];
                // The stage puts another canvas in the place of the one that has a WebGL context.
                const page = document.createElement("div");
                page.append(document.createElement("canvas"));
                const stage = new Stage(page.firstChild, { presets: list, adaptive: false, onerror: (error) => errors.push(error) });
                stage.resize(WIDTH, HEIGHT, 1);
                expect(stage.load(name, 0), `${name}: load returns false`);
                for (const frame of music().slice(0, 5)) stage.render(frame);
                expect(stage.showsPlain && stage.current === name, `${name}: no plain picture`);
                const { data } = page.firstChild.getContext("2d").getImageData(0, 0, WIDTH, HEIGHT);
                expect(Math.max(...data.filter((_, index) => index % 4 !== 3)) > 40, `${name}: black picture`);
                stage.load(names[0], 0.5);
                stage.render(music()[5]);
                expect(!stage.showsPlain && page.firstChild.getContext("webgl2") !== null, `${name}: the next preset is not drawn`);
                stage.dispose();
                expect(errors.length === 1 && errors[0].preset === name, `${name}: ${errors.length} errors`);
                expect(errors[0].message.includes(name) && errors[0].message.includes(text), `${name}: ${errors[0].message}`);
            }
        },
    },
    {
        name: "context lost and restored: the preset is drawn again",
        async run() {
            const canvas = document.createElement("canvas");
            const stage = new Stage(canvas, { seed: 11, adaptive: false });
            stage.resize(WIDTH, HEIGHT, 1);
            stage.load(names[0], 0);
            stage.render(music()[0]);
            const gl = canvas.getContext("webgl2");
            const extension = gl.getExtension("WEBGL_lose_context");
            const happens = (event) => new Promise((resolve, reject) => {
                canvas.addEventListener(event, resolve, { once: true });
                setTimeout(() => reject(new Error(`${event} has not come`)), 5000);
            });
            const lost = happens("webglcontextlost");
            extension.loseContext();
            await lost;
            stage.render(music()[1]);
            // The context can be restored when the event is over, not yet in its own microtasks.
            await new Promise((resolve) => { setTimeout(resolve); });
            const restored = happens("webglcontextrestored");
            extension.restoreContext();
            await restored;
            for (const frame of music().slice(0, 5)) stage.render(frame);
            expect(Math.max(...pixelsOf(gl).filter((_, index) => index % 4 !== 3)) > 40, "black picture");
            expect(gl.getError() === gl.NO_ERROR, "WebGL error");
            stage.dispose();
        },
    },
    {
        name: "dispose: after all presets: every WebGL object is deleted",
        run() {
            const canvas = document.createElement("canvas");
            const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false });
            const live = {};
            for (const kind of ["Texture", "Framebuffer", "Renderbuffer", "Buffer", "Program", "Shader", "VertexArray"]) {
                live[kind] = new Set();
                const create = gl[`create${kind}`].bind(gl);
                const remove = gl[`delete${kind}`].bind(gl);
                gl[`create${kind}`] = (...values) => {
                    const object = create(...values);
                    live[kind].add(object);
                    return object;
                };
                gl[`delete${kind}`] = (object) => {
                    live[kind].delete(object);
                    remove(object);
                };
            }
            const stage = new Stage(canvas, { seed: 11, adaptive: false });
            stage.resize(WIDTH, HEIGHT, 1);
            for (const preset of names) {
                stage.load(preset, 0.05);
                for (const frame of music().slice(0, 4)) stage.render(frame);
                stage.resize(WIDTH / 2, HEIGHT, 1);
                stage.resize(WIDTH, HEIGHT, 1);
            }
            stage.load(names[0], 0);
            const held = () => Object.values(live).reduce((sum, set) => sum + set.size, 0);
            const before = held();
            stage.load(names[0], 0);
            expect(held() === before, `a cut to the same preset leaves ${held() - before} objects more`);
            stage.dispose();
            for (const [kind, objects] of Object.entries(live)) expect(objects.size === 0, `${objects.size} ${kind} objects are left`);
        },
    },
    {
        name: "presets of the user are too slow: the plain picture takes their place, not that of the stage's own, until they are tried again",
        run() {
            const user = {
                names: ["Theirs"], opacity: 0, isTooSlow: false,
                load() { this.opacity = 1; },
                render() {},
                hide() { this.opacity = 0; },
                close() { this.opacity = 0; this.isTooSlow = false; },
            };
            const reports = [];
            const stage = new Stage(document.createElement("canvas"), { user, adaptive: false, onslow: (isSlow) => reports.push(isSlow) });
            stage.resize(WIDTH, HEIGHT, 1);
            const expectPlain = (isPlain) => {
                stage.render(silence()[0]);
                expect(stage.showsPlain === isPlain && stage.isPlain === isPlain && reports.at(-1) === isPlain, `${stage.current}: ${reports}`);
            };
            stage.load("Theirs", 0);
            user.isTooSlow = true;
            stage.render(silence()[0]);
            expectPlain(true);
            for (const [name, isPlain] of [[names[0], false], ["Theirs", true]]) {
                stage.load(name, 0);
                expectPlain(isPlain);
            }
            stage.retry();
            expect(!stage.showsPlain && user.opacity === 1 && !reports.at(-1), "the user's preset is not tried again");
            stage.load(names[0], 0);
            expectPlain(false);
            stage.dispose();
        },
    },
    {
        name: "no WebGL2: a plain 2D picture without presets",
        run() {
            const canvas = document.createElement("canvas");
            const context = canvas.getContext.bind(canvas);
            canvas.getContext = (kind, ...values) => (kind === "webgl2" ? null : context(kind, ...values));
            const stage = new Stage(canvas, {});
            stage.resize(WIDTH, HEIGHT, 1);
            expect(stage.names.length === 0 && !stage.load(names[0], 0), "the stage has presets");
            for (const frame of music().slice(0, 20)) stage.render(frame);
            const { data } = context("2d").getImageData(0, 0, WIDTH, HEIGHT);
            expect(Math.max(...data.filter((_, index) => index % 4 !== 3)) > 60, "black picture");
            stage.dispose();
        },
    },
];
