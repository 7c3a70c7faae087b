import { deepEqual, ok } from "node:assert/strict";
import test from "node:test";

import { AudioAnalysis } from "../analysis/audio.js";
import { PowerSpectrum } from "../analysis/fft.js";
import { SampleHistory } from "../analysis/samples.js";
import { frequencyOfPosition } from "../analysis/scale.js";
import { near, seededRandom } from "./check.js";

const RATE = 44100;

/** Interleaved stereo messages of 1024 frames of `signal(frame)`, the same on both sides. */
function feed(analysis, messages, signal, slow = false) {
    const samples = new Float32Array(2048);
    for (let message = 0; message < messages; message++) {
        for (let i = 0; i < 1024; i++) samples[2 * i] = samples[2 * i + 1] = signal(message * 1024 + i);
        analysis.history.add(samples, message * 1024);
        analysis.update(((message + 1) * 1024) / RATE, 1024 / RATE, 1, slow);
    }
    return analysis;
}

const sine = (hertz, amplitude) => (frame) => amplitude * Math.sin((2 * Math.PI * hertz * frame) / RATE);

function loudest(analysis) {
    const point = analysis.decibels.indexOf(Math.max(...analysis.decibels));
    return { hertz: frequencyOfPosition(point / 255), decibels: analysis.decibels[point] };
}

test("FFT of random numbers: equals the definition", () => {
    const random = seededRandom(5);
    const size = 64;
    const spectrum = new PowerSpectrum(size);
    const samples = Float32Array.from({ length: size }, () => 2 * random() - 1);
    const power = spectrum.process(samples);
    for (let bin = 1; bin < size / 2; bin++) {
        let real = 0;
        let imaginary = 0;
        for (let i = 0; i < size; i++) {
            const value = samples[i] * spectrum.window[i];
            real += value * Math.cos((2 * Math.PI * bin * i) / size);
            imaginary -= value * Math.sin((2 * Math.PI * bin * i) / size);
        }
        near(power[bin], (real * real + imaginary * imaginary) * spectrum.scale, 1e-6, `bin ${bin}`);
    }
});

test("full-scale sine between two bins: power 1 in its main lobe", () => {
    const samples = Float32Array.from({ length: 2048 }, (_, i) => Math.sin((2 * Math.PI * 100.37 * i) / 2048));
    const power = new PowerSpectrum(2048).process(samples);
    near(power.slice(95, 106).reduce((sum, value) => sum + value), 1, 0.001);
});

for (const hertz of [55, 440, 1000, 6000]) {
    test(`sine of ${hertz} Hz at −6 dB: maximum there at −6 dB`, () => {
        const result = loudest(feed(new AudioAnalysis(), 20, sine(hertz, 0.5)));
        near(result.hertz / hertz, 1, 0.04, "frequency");
        near(result.decibels, -6, 1, "level");
    });
}

test("channels of opposite polarity: the levels and the waveform of their difference, and back", () => {
    const analysis = new AudioAnalysis();
    const tone = sine(440, 0.5);
    const play = (messages, sign, first) => {
        const samples = new Float32Array(2048);
        for (let message = first; message < first + messages; message++) {
            for (let i = 0; i < 1024; i++) {
                samples[2 * i] = tone(message * 1024 + i);
                samples[2 * i + 1] = sign * samples[2 * i];
            }
            analysis.history.add(samples, message * 1024);
            analysis.update(((message + 1) * 1024) / RATE, 1024 / RATE, 1, false);
        }
        near(loudest(analysis).decibels, -6, 1, "level");
        deepEqual([...analysis.frame.waveform], [...analysis.frame.left]);
    };
    play(20, -1, 0);
    deepEqual(analysis.opposite, true);
    play(20, 1, 20);
    deepEqual(analysis.opposite, false);
});

test("left channel only, and wide stereo: half the sum", () => {
    const random = seededRandom(4);
    for (const right of [() => 0, () => random() - 0.5]) {
        const analysis = new AudioAnalysis();
        const samples = Float32Array.from({ length: 40 * 2048 }, (_, i) => (i % 2 ? right() : random() - 0.5));
        analysis.history.add(samples, 0);
        analysis.update((40 * 1024) / RATE, 0.1, 1, false);
        deepEqual(analysis.opposite, false);
        near(analysis.frame.waveform[9], (analysis.frame.left[9] + analysis.frame.right[9]) / 2, 1e-6);
    }
});

test("silence: reported after 1.5 s, and levels of 0", () => {
    const analysis = feed(new AudioAnalysis(), 20, sine(440, 0.5));
    deepEqual(analysis.frame.silent, false);
    for (let i = 0; i < 80; i++) {
        analysis.history.add(new Float32Array(2048), (20 + i) * 1024);
        analysis.update(((21 + i) * 1024) / RATE, 1024 / RATE, 1, false);
    }
    deepEqual(analysis.frame.silent, true);
    near(analysis.frame.level, 0, 0.001, "level");
    near(Math.max(...analysis.frame.spectrum), 0, 0.001, "spectrum");
    near(analysis.frame.bands.bass, 0, 0.001, "bass");
});

test("steady noise: all bands approach 1", () => {
    const random = seededRandom(3);
    const { bands } = feed(new AudioAnalysis(), 1200, () => 0.4 * (random() - 0.5)).frame;
    for (const name of ["bass_att", "mid_att", "treb_att"]) near(bands[name], 1, 0.35, name);
});

test("stream that stops: silence after 1 s", () => {
    const analysis = feed(new AudioAnalysis(), 20, sine(440, 0.5));
    const end = (20 * 1024) / RATE;
    analysis.update(end + 0.9, 0.9, 1, false);
    ok(analysis.rms > 0.3, "the newest samples are shown within 1 s");
    analysis.update(end + 1.1, 0.2, 1, false);
    deepEqual(analysis.rms, 0);
});

test("rare pictures: every column of the spectrogram", () => {
    const analysis = new AudioAnalysis();
    let columns = 0;
    analysis.onColumn = () => (columns += 1);
    for (let message = 0; message < 30; message++) {
        analysis.history.add(new Float32Array(2048), message * 1024);
        if (message % 10 === 9) analysis.update(((message + 1) * 1024) / RATE, 0.23, 1, false);
    }
    deepEqual(columns, 21);
});

test("history: samples at their positions, zeros where none arrived", () => {
    const history = new SampleHistory();
    history.add(Float32Array.from({ length: 8 }, (_, i) => i + 1), 0);
    history.add(Float32Array.from({ length: 4 }, (_, i) => i + 101), 6);
    const [left, right, mono] = [0, 0, 0].map(() => new Float32Array(8));
    history.copy(8, left, right, mono);
    deepEqual([...left], [1, 3, 5, 7, 0, 0, 101, 103]);
    deepEqual([...right], [2, 4, 6, 8, 0, 0, 102, 104]);
    history.copy(10, left, right, mono);
    deepEqual([...mono].slice(4), [101.5, 103.5, 0, 0]);
});

test("history: a new stream replaces the old one", () => {
    const history = new SampleHistory();
    history.add(new Float32Array(2048).fill(1), 10_000_000);
    history.add(new Float32Array(4).fill(0.5), 0);
    const [left, right, mono] = [0, 0, 0].map(() => new Float32Array(4));
    history.copy(2, left, right, mono);
    deepEqual([...mono], [0, 0, 0.5, 0.5]);
});
