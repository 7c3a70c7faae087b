// Analysis of the sound for the displays and the stage: one `frame` per picture, computed from the latest samples.

import { PowerSpectrum } from "./fft.js";
import { SampleHistory } from "./samples.js";
import { frequencyOfPosition, MIN_DB } from "./scale.js";

const LONG_WINDOW = 8192;
const SHORT_WINDOW = 2048;
const POINTS = 256;
// Below this frequency the long window is used, above the next one the short window, between both a mix.
const LONG_BELOW_HZ = 300;
const SHORT_ABOVE_HZ = 600;
// Every point sums 1/12 octave, or two bins where that is wider.
const BAND_RATIO = 2 ** (1 / 12) - 1;
const COLUMN_FRAMES = 1024;
// After a pause of the page, older columns are left out.
const MAX_COLUMNS = 64;
const SILENCE_LEVEL = 10 ** (-70 / 20);
// Power of half the sum of the channels, relative to theirs, below which they have opposite polarity, and above which it is normal again.
const OPPOSITE_BELOW = 0.01;
const NORMAL_ABOVE = 0.1;
const SILENCE_S = 1.5;
// Edges of the bands bass, mid and treble in Hz, as in MilkDrop.
const BAND_EDGES = [20, 320, 2800, 11025];
const BAND_NAMES = ["bass", "mid", "treb"];
// Level of the stage's spectrum: 0 at −72 dB, 1 at −12 dB.
const STAGE_MIN_DB = -72;
const STAGE_RANGE_DB = 60;

/** Sums of the power of all lower bins, so that the power of any band is one subtraction. */
class CumulativePower {
    constructor(size) {
        this.spectrum = new PowerSpectrum(size);
        this.sums = new Float64Array(size / 2 + 2);
    }

    process(samples) {
        const power = this.spectrum.process(samples);
        for (let i = 0; i < power.length; i++) this.sums[i + 1] = this.sums[i] + power[i];
    }

    /** Power below `bin`, which may lie between two bins; bin i covers i − 0.5 to i + 0.5. */
    below(bin) {
        const position = Math.min(this.sums.length - 1, Math.max(0, bin + 0.5));
        const index = Math.min(this.sums.length - 2, Math.floor(position));
        return this.sums[index] + (position - index) * (this.sums[index + 1] - this.sums[index]);
    }

    band(low, high) {
        return Math.max(0, this.below(high) - this.below(low));
    }
}

export class AudioAnalysis {
    constructor() {
        this.history = new SampleHistory();
        this.long = new CumulativePower(LONG_WINDOW);
        this.short = new CumulativePower(SHORT_WINDOW);
        this.longLeft = new Float32Array(LONG_WINDOW);
        this.longRight = new Float32Array(LONG_WINDOW);
        this.longMono = new Float32Array(LONG_WINDOW);
        /** Whether the channels cancel each other, so that their difference is analysed, as in the records. */
        this.opposite = false;
        /** Level of every point in dBFS: the latest, and the smoothed one with its peak hold for the display. */
        this.decibels = new Float32Array(POINTS).fill(MIN_DB);
        this.smoothed = new Float32Array(POINTS).fill(MIN_DB);
        this.peaks = new Float32Array(POINTS).fill(MIN_DB);
        this.peakAges = new Float32Array(POINTS);
        this.bandAverages = new Float32Array(3);
        this.bandLongAverages = new Float32Array(3).fill(0.02);
        this.rms = 0;
        this.quietTime = SILENCE_S;
        this.analyzedEnd = -1;
        this.column = null;
        /** Called with the levels of every column of the spectrogram: one per 1024 frames, also if pictures are rarer. */
        this.onColumn = (_) => {};
        this.setSampleRate(44100);
        this.frame = {
            time: 0,
            dt: 0,
            speed: 1,
            waveform: new Float32Array(1024),
            left: new Float32Array(1024),
            right: new Float32Array(1024),
            spectrum: new Float32Array(POINTS),
            bands: { bass: 0, mid: 0, treb: 0, bass_att: 0, mid_att: 0, treb_att: 0 },
            beat: { pulse: 0, phase: 0, bar: null, beatsPerBar: 4, bpm: null, confidence: 0 },
            level: 0,
            silent: true,
        };
    }

    setSampleRate(rate) {
        this.sampleRate = rate;
        this.edges = { long: new Float64Array(2 * POINTS), short: new Float64Array(2 * POINTS), mix: new Float32Array(POINTS) };
        for (let i = 0; i < POINTS; i++) {
            const hertz = frequencyOfPosition(i / (POINTS - 1));
            for (const { name, size } of [{ name: "long", size: LONG_WINDOW }, { name: "short", size: SHORT_WINDOW }]) {
                const centre = (hertz * size) / rate;
                const width = Math.max(2, centre * BAND_RATIO);
                this.edges[name][2 * i] = centre - width / 2;
                this.edges[name][2 * i + 1] = centre + width / 2;
            }
            const mix = Math.log(hertz / LONG_BELOW_HZ) / Math.log(SHORT_ABOVE_HZ / LONG_BELOW_HZ);
            this.edges.mix[i] = Math.min(1, Math.max(0, mix));
        }
    }

    reset() {
        this.history.reset();
        this.analyzedEnd = -1;
        this.column = null;
        this.opposite = false;
    }

    /** Computes the frame for the stream time `time`, `dt` seconds after the frame before. `time` is NaN without a stream. */
    update(time, dt, speed, slow) {
        const { frame, history } = this;
        frame.time = Number.isFinite(time) ? time : frame.time + dt;
        frame.dt = dt;
        frame.speed = speed;
        // Without a stream the frames before position 0 are analyzed, which are zeros.
        const position = Number.isFinite(time) ? Math.round(time * this.sampleRate) : 0;
        // Samples arrive in messages: up to 1 s after the newest one, the newest is shown.
        const fresh = history.end > 0 && position - history.end < this.sampleRate;
        const end = fresh ? Math.min(position, history.end) : position;
        if (Number.isFinite(time)) this.analyzeColumns(end);
        if (end !== this.analyzedEnd) this.analyze(end);
        this.smooth(dt, slow);
        this.updateBands(dt);
        return frame;
    }

    /** Analyzes at the ends of all columns since the picture before. */
    analyzeColumns(end) {
        const column = Math.floor(end / COLUMN_FRAMES);
        if (this.column === null || column < this.column) this.column = column - 1;
        for (let next = Math.max(this.column + 1, column - MAX_COLUMNS + 1); next <= column; next++) {
            this.analyze(next * COLUMN_FRAMES);
            this.onColumn(this.decibels);
        }
        this.column = column;
    }

    analyze(end) {
        this.analyzedEnd = end;
        const { frame, longLeft, longRight, longMono } = this;
        this.history.copy(end, longLeft, longRight, longMono);
        this.followPolarity();
        let sum = 0;
        for (let i = LONG_WINDOW - SHORT_WINDOW; i < LONG_WINDOW; i++) sum += longMono[i] * longMono[i];
        this.rms = Math.sqrt(sum / SHORT_WINDOW);
        const start = LONG_WINDOW - 1024;
        for (let i = 0; i < 1024; i++) {
            frame.left[i] = longLeft[start + i];
            frame.right[i] = longRight[start + i];
            frame.waveform[i] = longMono[start + i];
        }
        this.long.process(longMono);
        this.short.process(longMono);
        const { long, short, mix } = this.edges;
        for (let i = 0; i < POINTS; i++) {
            const low = mix[i] < 1 ? this.long.band(long[2 * i], long[2 * i + 1]) : 0;
            const high = mix[i] > 0 ? this.short.band(short[2 * i], short[2 * i + 1]) : 0;
            this.decibels[i] = 10 * Math.log10(low * (1 - mix[i]) + high * mix[i] + 1e-12);
        }
    }

    /** Replaces half the sum of the channels by half their difference while they have opposite polarity. */
    followPolarity() {
        const { longLeft, longRight, longMono } = this;
        let channels = 0;
        let sum = 0;
        for (let i = 0; i < LONG_WINDOW; i++) {
            channels += (longLeft[i] * longLeft[i] + longRight[i] * longRight[i]) / 2;
            sum += longMono[i] * longMono[i];
        }
        if (this.opposite ? sum > NORMAL_ABOVE * channels : sum < OPPOSITE_BELOW * channels) this.opposite = !this.opposite;
        if (!this.opposite) return;
        for (let i = 0; i < LONG_WINDOW; i++) longMono[i] = (longLeft[i] - longRight[i]) / 2;
    }

    /** Smooths for the display: fast rise, slow fall, and a peak that holds for 0.9 s and then falls. */
    smooth(dt, slow) {
        const { frame, decibels, smoothed, peaks, peakAges } = this;
        const rise = 1 - Math.exp(-dt / (slow ? 0.4 : 0.018));
        const fall = 1 - Math.exp(-dt / (slow ? 1.2 : 0.16));
        for (let i = 0; i < POINTS; i++) {
            const level = Math.max(MIN_DB - 6, decibels[i]);
            smoothed[i] += (level > smoothed[i] ? rise : fall) * (level - smoothed[i]);
            peakAges[i] += dt;
            if (smoothed[i] >= peaks[i]) {
                peaks[i] = smoothed[i];
                peakAges[i] = 0;
            } else if (peakAges[i] > 0.9) {
                peaks[i] -= 26 * dt;
            }
            frame.spectrum[i] = Math.min(1, Math.max(0, (smoothed[i] - STAGE_MIN_DB) / STAGE_RANGE_DB));
        }
        frame.level += (1 - Math.exp(-dt / 0.05)) * (Math.min(1, this.rms) - frame.level);
        this.quietTime = this.rms > SILENCE_LEVEL ? 0 : this.quietTime + dt;
        frame.silent = this.quietTime >= SILENCE_S;
    }

    /** Bass, mid and treble relative to their averages over some seconds; the *_att values are smoothed. */
    updateBands(dt) {
        const { bands } = this.frame;
        // MilkDrop's rates apply to 30 pictures per second.
        const pictures = Math.min(6, dt * 30);
        for (let i = 0; i < 3; i++) {
            const scale = SHORT_WINDOW / this.sampleRate;
            const value = Math.sqrt(this.short.band(BAND_EDGES[i] * scale, BAND_EDGES[i + 1] * scale));
            const average = this.bandAverages[i];
            const rate = (value > average ? 0.2 : 0.5) ** pictures;
            this.bandAverages[i] = average * rate + value * (1 - rate);
            // Silence does not change what is average.
            if (value > SILENCE_LEVEL) {
                const slow = 0.992 ** pictures;
                this.bandLongAverages[i] = this.bandLongAverages[i] * slow + value * (1 - slow);
            }
            const reference = Math.max(0.0008, this.bandLongAverages[i]);
            bands[BAND_NAMES[i]] = Math.min(8, value / reference);
            bands[`${BAND_NAMES[i]}_att`] = Math.min(8, this.bandAverages[i] / reference);
        }
    }
}
