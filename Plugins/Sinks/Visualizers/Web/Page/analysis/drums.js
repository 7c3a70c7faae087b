// Strokes of kick, snare and hi-hat in the order of their stream times, and the light of each.

export const VOICES = ["kick", "snare", "hihat"];
const CAPACITY = 64;
// The light falls to 37 % in this time.
const FADE_S = 0.1;

/** Holds announced strokes until they are due. Times are stream times in seconds. */
export class DrumLights {
    constructor() {
        this.reset();
    }

    reset() {
        this.pending = [];
        this.last = null;
    }

    /** Adds a record `drum` or `expected_drum`. A stroke that was announced lights once. */
    add(stroke) {
        if (!Number.isFinite(stroke.t) || stroke.expected || !VOICES.includes(stroke.voice)) return;
        this.last ??= { kick: -Infinity, snare: -Infinity, hihat: -Infinity };
        this.pending.push(stroke);
        if (this.pending.length > CAPACITY) this.pending.shift();
    }

    /** The lights at `time`, 0…1 by voice; null before the first stroke. */
    at(time) {
        if (!this.last) return null;
        this.pending = this.pending.filter((stroke) => {
            if (stroke.t > time) return true;
            this.last[stroke.voice] = Math.max(this.last[stroke.voice], stroke.t);
            return false;
        });
        const lights = {};
        for (const voice of VOICES) lights[voice] = Math.exp(-Math.max(0, time - this.last[voice]) / FADE_S);
        return lights;
    }
}
