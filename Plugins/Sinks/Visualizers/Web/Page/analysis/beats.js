// Beats in the order of their stream times, and the position between them.

const CAPACITY = 64;
// A beat that arrives later than this does not flash.
const LATE_S = 0.15;
// Without a beat for this time the tempo is unknown.
const FORGET_S = 5;

/** Holds announced beats until they are due. Times are stream times in seconds. */
export class BeatClock {
    constructor() {
        this.reset();
    }

    reset() {
        this.pending = [];
        this.last = null;
        this.beatsPerBar = 4;
        this.positionBefore = null;
    }

    /** Adds a beat record. */
    add(beat) {
        if (!Number.isFinite(beat.t)) return;
        let index = this.pending.length;
        while (index > 0 && this.pending[index - 1].t > beat.t) index -= 1;
        this.pending.splice(index, 0, beat);
        if (this.pending.length > CAPACITY) this.pending.shift();
    }

    /** Removes the beats that are due at `time` and returns the one to draw, or null. */
    due(time) {
        let drawn = null;
        while (this.pending.length > 0 && this.pending[0].t <= time) {
            const beat = this.pending.shift();
            if (beat.position === 1 && this.positionBefore > 1) this.beatsPerBar = Math.min(12, this.positionBefore);
            if (beat.position !== null && beat.position > this.beatsPerBar) this.beatsPerBar = Math.min(12, beat.position);
            this.positionBefore = beat.position ?? null;
            this.last = beat;
            if (time - beat.t < LATE_S) drawn = beat;
        }
        if (this.last && (time - this.last.t > FORGET_S || time < this.last.t - 1)) this.last = null;
        return drawn;
    }

    /** Writes pulse, phase, bar, beatsPerBar, bpm and confidence at `time` into `target`. */
    describe(time, target) {
        const last = this.last;
        target.beatsPerBar = this.beatsPerBar;
        if (!last) {
            target.pulse = target.phase = target.confidence = 0;
            target.bar = target.bpm = null;
            return target;
        }
        const elapsed = Math.max(0, time - last.t);
        const next = this.pending[0];
        const period = next ? next.t - last.t : last.bpm ? 60 / last.bpm : 0.5;
        target.pulse = Math.exp(-elapsed / 0.14);
        target.phase = Math.min(1, elapsed / Math.max(0.1, period));
        target.bar = last.position ?? null;
        target.bpm = last.bpm ?? null;
        target.confidence = last.confidence ?? 0;
        return target;
    }
}
