// Frames for the stage, computed from synthesised or given samples at a fixed frame rate.

const RATE = 44100;
const FFT_SIZE = 2048;

function generator(seed) {
    let state = seed >>> 0 || 1;
    return () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return (state >>> 0) / 4294967296;
    };
}

/// A drum-and-bass loop at 174 BPM: {left, right, rate, bpm, meter}.
export function drumAndBass(seconds, { seed = 7 } = {}) {
    const random = generator(seed);
    const length = Math.round(seconds * RATE);
    const left = new Float32Array(length);
    const right = new Float32Array(length);
    const sixteenth = (60 / 174 / 4) * RATE;
    const kicks = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0];
    const snares = [0, 0, 0, 0, 1, 0, 0, 0.25, 0, 0.25, 0, 0, 1, 0, 0, 0.2];
    const notes = [55, 55, 65.4, 49];
    for (let step = 0; step * sixteenth < length; step += 1) {
        const start = Math.round(step * sixteenth);
        const place = step % 16;
        for (let index = 0; index < RATE * 0.25 && start + index < length; index += 1) {
            const t = index / RATE;
            let value = kicks[place] * 0.8 * Math.exp(-t * 14) * Math.sin(2 * Math.PI * (48 * t + 6 * (1 - Math.exp(-t * 40))));
            const noise = random() * 2 - 1;
            value += snares[place] * (0.35 * Math.exp(-t * 18) * noise + 0.3 * Math.exp(-t * 22) * Math.sin(2 * Math.PI * 190 * t));
            const hat = (place % 2 === 0 ? 0.12 : 0.06) * Math.exp(-t * 70) * noise;
            left[start + index] += value + hat;
            right[start + index] += value - hat * 0.6;
        }
    }
    for (let index = 0; index < length; index += 1) {
        const t = index / RATE;
        const bar = Math.trunc(t / (240 / 174));
        const note = notes[bar % 4];
        const wobble = 0.5 + 0.5 * Math.sin(2 * Math.PI * t * (174 / 60));
        const bass = 0.25 * (Math.sin(2 * Math.PI * note * t) + wobble * 0.5 * Math.sin(2 * Math.PI * note * 3 * t));
        const pad = [8, 9.5, 12].reduce((sum, ratio) => sum + 0.05 * Math.sin(2 * Math.PI * note * ratio * t), 0);
        left[index] += bass + pad * (0.6 + 0.4 * Math.sin(t * 1.7));
        right[index] += bass + pad * (0.6 - 0.4 * Math.sin(t * 1.7));
    }
    return { left, right, rate: RATE, bpm: 174, meter: 4 };
}

/// Samples from a function of the time in seconds; `bpm` may be null.
export function samplesOf(seconds, value, { bpm = null, meter = 4 } = {}) {
    const length = Math.round(seconds * RATE);
    const left = new Float32Array(length);
    const right = new Float32Array(length);
    for (let index = 0; index < length; index += 1) [left[index], right[index]] = value(index / RATE);
    return { left, right, rate: RATE, bpm, meter };
}

/// White noise in −1…1 that depends on the seed.
export function whiteNoise(seed = 3) {
    const random = generator(seed);
    return () => random() * 2 - 1;
}

function powerSpectrum(samples, end, real, imaginary) {
    for (let index = 0; index < FFT_SIZE; index += 1) {
        const at = end - FFT_SIZE + index;
        const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / FFT_SIZE);
        real[index] = (at >= 0 && at < samples.length ? samples[at] : 0) * window;
        imaginary[index] = 0;
    }
    for (let index = 1, other = 0; index < FFT_SIZE; index += 1) {
        let bit = FFT_SIZE >> 1;
        for (; other & bit; bit >>= 1) other ^= bit;
        other ^= bit;
        if (index < other) [real[index], real[other]] = [real[other], real[index]];
    }
    for (let size = 2; size <= FFT_SIZE; size *= 2) {
        const half = size / 2;
        for (let offset = 0; offset < half; offset += 1) {
            const angle = (-2 * Math.PI * offset) / size;
            const c = Math.cos(angle);
            const s = Math.sin(angle);
            for (let start = offset; start < FFT_SIZE; start += size) {
                const r = real[start + half] * c - imaginary[start + half] * s;
                const i = real[start + half] * s + imaginary[start + half] * c;
                real[start + half] = real[start] - r;
                imaginary[start + half] = imaginary[start] - i;
                real[start] += r;
                imaginary[start] += i;
            }
        }
    }
}

/// The frames of a piece of music, one every 1/fps seconds.
export function framesOf(music, fps) {
    const { left, right, rate } = music;
    const mono = left.map((value, index) => 0.5 * (value + right[index]));
    const count = Math.trunc((left.length / rate) * fps);
    const real = new Float32Array(FFT_SIZE);
    const imaginary = new Float32Array(FFT_SIZE);
    const average = { bass: 0, mid: 0, treb: 0 };
    const attenuated = { bass: 1, mid: 1, treb: 1 };
    const smooth = new Float32Array(256);
    const frames = [];
    let pulse = 0;
    let lastBeat = -1;
    for (let number = 0; number < count; number += 1) {
        const end = Math.round(((number + 1) * rate) / fps);
        powerSpectrum(mono, end, real, imaginary);
        const magnitude = (bin) => Math.hypot(real[bin], imaginary[bin]) / (FFT_SIZE / 4);
        for (let index = 0; index < 256; index += 1) {
            const bin = (30 * (16000 / 30) ** (index / 255) * FFT_SIZE) / rate;
            const low = Math.trunc(bin);
            const part = bin - low;
            const value = magnitude(low) * (1 - part) + magnitude(low + 1) * part;
            const level = Math.min(1, Math.max(0, (20 * Math.log10(value + 1e-6) + 3 * Math.log2(Math.max(1, bin / 4)) + 66) / 66));
            smooth[index] = Math.max(level, smooth[index] * Math.exp(-1 / fps / 0.09));
        }
        const bands = {};
        let sum = 0;
        for (const [name, from, to] of [["bass", 20, 250], ["mid", 250, 2500], ["treb", 2500, 16000]]) {
            let energy = 0;
            for (let bin = Math.ceil((from * FFT_SIZE) / rate); bin < (to * FFT_SIZE) / rate; bin += 1) energy += magnitude(bin);
            const share = number < fps ? 1 / (number + 1) : 1 - Math.exp(-1 / fps / 3);
            average[name] += share * (energy - average[name]);
            bands[name] = average[name] > 1e-4 ? Math.min(4, energy / average[name]) : 1;
            attenuated[name] += (1 - Math.exp(-1 / fps / 0.25)) * (bands[name] - attenuated[name]);
            bands[`${name}_att`] = attenuated[name];
        }
        const waveform = new Float32Array(1024);
        const leftWave = new Float32Array(1024);
        const rightWave = new Float32Array(1024);
        for (let index = 0; index < 1024; index += 1) {
            const at = end - 1024 + index;
            leftWave[index] = left[at] || 0;
            rightWave[index] = right[at] || 0;
            waveform[index] = mono[at] || 0;
            sum += waveform[index] ** 2;
        }
        const level = Math.sqrt(sum / 1024);
        const time = (number + 1) / fps;
        let beat = { pulse: 0, phase: 0, bar: null, beatsPerBar: 4, bpm: null, confidence: 0 };
        if (music.bpm) {
            const position = (time * music.bpm) / 60;
            const index = Math.trunc(position);
            pulse = index !== lastBeat ? 1 : pulse * Math.exp(-1 / fps / 0.12);
            lastBeat = index;
            const bar = (index % music.meter) + 1;
            beat = { pulse, phase: position - index, bar, beatsPerBar: music.meter, bpm: music.bpm, confidence: 0.9 };
        }
        frames.push({
            time, dt: 1 / fps, speed: 1, waveform, left: leftWave, right: rightWave, spectrum: Float32Array.from(smooth), bands, beat,
            level, silent: level < 1e-4,
        });
    }
    return frames;
}
