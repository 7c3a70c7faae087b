// The latest samples, addressed by their position in the stream.

const CAPACITY = 1 << 18;
const MASK = CAPACITY - 1;

/** Holds the last 262 144 frames: 5.9 s at 44.1 kHz. Frames that never arrived are zeros. */
export class SampleHistory {
    constructor() {
        this.left = new Float32Array(CAPACITY);
        this.right = new Float32Array(CAPACITY);
        this.reset();
    }

    reset() {
        this.left.fill(0);
        this.right.fill(0);
        /** Position after the newest frame. */
        this.end = 0;
    }

    /** Adds interleaved stereo samples whose first frame has the position `frame`. */
    add(samples, frame) {
        const count = samples.length / 2;
        if (frame < this.end) {
            // Another stream begins, or a message is repeated.
            if (this.end - frame > CAPACITY) this.reset();
        } else if (frame - this.end >= CAPACITY) {
            this.left.fill(0);
            this.right.fill(0);
        } else {
            for (let position = this.end; position < frame; position++) this.left[position & MASK] = this.right[position & MASK] = 0;
        }
        for (let i = 0; i < count; i++) {
            const index = (frame + i) & MASK;
            this.left[index] = samples[2 * i];
            this.right[index] = samples[2 * i + 1];
        }
        this.end = frame + count;
    }

    /** Copies the frames before position `end` into three arrays of equal length; frames that are not available are zeros. */
    copy(end, left, right, mono) {
        const count = mono.length;
        const oldest = Math.max(0, this.end - CAPACITY);
        for (let i = 0; i < count; i++) {
            const position = end - count + i;
            const available = position >= oldest && position < this.end;
            const index = position & MASK;
            const l = available ? this.left[index] : 0;
            const r = available ? this.right[index] : 0;
            left[i] = l;
            right[i] = r;
            mono[i] = 0.5 * (l + r);
        }
    }
}
