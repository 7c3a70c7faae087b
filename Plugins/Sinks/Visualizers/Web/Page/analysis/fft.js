// Power spectra of real signals.

/** FFT of a fixed size, a power of two from 8. No method allocates memory. */
export class PowerSpectrum {
    constructor(size) {
        this.size = size;
        const half = size / 2;
        this.half = half;
        this.real = new Float32Array(half);
        this.imaginary = new Float32Array(half);
        /** Power per bin, 0 to size / 2. A full-scale sine at the centre of a bin has power 1 in the sum over its main lobe. */
        this.power = new Float32Array(half + 1);
        this.window = new Float32Array(size);
        let sumOfSquares = 0;
        for (let i = 0; i < size; i++) {
            this.window[i] = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size);
            sumOfSquares += this.window[i] ** 2;
        }
        // A sine of amplitude 1 has the power A² · N · Σw² / 4 in the positive frequencies.
        this.scale = 4 / (size * sumOfSquares);
        this.cosines = new Float32Array(half);
        this.sines = new Float32Array(half);
        for (let i = 0; i < half; i++) {
            this.cosines[i] = Math.cos((2 * Math.PI * i) / size);
            this.sines[i] = Math.sin((2 * Math.PI * i) / size);
        }
        this.reversed = new Uint32Array(half);
        const bits = Math.log2(half);
        for (let i = 0; i < half; i++) {
            let reversed = 0;
            for (let bit = 0; bit < bits; bit++) if (i & (1 << bit)) reversed |= 1 << (bits - 1 - bit);
            this.reversed[i] = reversed;
        }
    }

    /** Computes `power` of the last `size` samples of `samples`, with a Hann window. */
    process(samples) {
        const { size, half, real, imaginary, reversed, window, power, cosines, sines } = this;
        const start = samples.length - size;
        // Even samples are the real parts and odd samples the imaginary parts of a complex signal of half the length.
        for (let i = 0; i < half; i++) {
            const target = reversed[i];
            real[target] = samples[start + 2 * i] * window[2 * i];
            imaginary[target] = samples[start + 2 * i + 1] * window[2 * i + 1];
        }
        this.transform();
        power[0] = ((real[0] + imaginary[0]) ** 2 * this.scale) / 2;
        power[half] = ((real[0] - imaginary[0]) ** 2 * this.scale) / 2;
        for (let i = 1; i < half; i++) {
            const mirror = half - i;
            const evenReal = 0.5 * (real[i] + real[mirror]);
            const evenImaginary = 0.5 * (imaginary[i] - imaginary[mirror]);
            const oddReal = 0.5 * (imaginary[i] + imaginary[mirror]);
            const oddImaginary = -0.5 * (real[i] - real[mirror]);
            const cosine = cosines[i];
            const sine = sines[i];
            const valueReal = evenReal + cosine * oddReal + sine * oddImaginary;
            const valueImaginary = evenImaginary + cosine * oddImaginary - sine * oddReal;
            power[i] = (valueReal * valueReal + valueImaginary * valueImaginary) * this.scale;
        }
        return power;
    }

    /** Complex FFT in place, radix 2, input in bit-reversed order. */
    transform() {
        const { half, real, imaginary, cosines, sines } = this;
        for (let length = 2; length <= half; length *= 2) {
            const middle = length / 2;
            const step = (2 * half) / length;
            for (let start = 0; start < half; start += length) {
                for (let i = 0; i < middle; i++) {
                    const cosine = cosines[i * step];
                    const sine = sines[i * step];
                    const low = start + i;
                    const high = low + middle;
                    const x = real[high] * cosine + imaginary[high] * sine;
                    const y = imaginary[high] * cosine - real[high] * sine;
                    real[high] = real[low] - x;
                    imaginary[high] = imaginary[low] - y;
                    real[low] += x;
                    imaginary[low] += y;
                }
            }
        }
    }
}
