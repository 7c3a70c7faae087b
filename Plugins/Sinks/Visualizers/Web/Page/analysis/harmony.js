// Chroma, key, chord and note of the stream, where its header declares them.

const CAPACITY = 128;
const NOTES = ["C", "C♯", "D", "D♯", "E", "F", "F♯", "G", "G♯", "A", "A♯", "B"];
const MAJOR_KEYS = ["C", "D♭", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B"];
const MINOR_KEYS = ["C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "G♯", "A", "B♭", "B"];
// By the value of chords.quality_number.
const QUALITIES = ["", "m", "7", "m7", "maj7"];

/** The plugins whose features are shown. */
export const HARMONY_PLUGINS = ["chroma", "musical-key", "chords", "pitch"];

export const noteNames = NOTES;

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** `A minor` from the numbers of tonic (0 = C) and mode (0 = major, 1 = minor), or null. */
export function keyName(key) {
    const { tonic_number: tonic, mode_number: mode } = key ?? {};
    if (!Number.isInteger(tonic) || tonic < 0 || tonic > 11 || (mode !== 0 && mode !== 1)) return null;
    return mode === 0 ? `${MAJOR_KEYS[tonic]} major` : `${MINOR_KEYS[tonic]} minor`;
}

/** `Am` from the numbers of root (0 = C) and quality, or null. */
export function chordName(chord) {
    const { root_number: root, quality_number: quality } = chord ?? {};
    const suffix = QUALITIES[quality];
    return Number.isInteger(root) && root >= 0 && root < 12 && suffix !== undefined ? NOTES[root] + suffix : null;
}

/** The note that is nearest to a frequency in hertz, with its octave: `A4`; null if the frequency is no positive number. */
export function noteName(frequency) {
    if (!isNumber(frequency) || frequency <= 0) return null;
    const note = Math.round(69 + 12 * Math.log2(frequency / 440));
    return NOTES[((note % 12) + 12) % 12] + (Math.floor(note / 12) - 1);
}

/** Holds the batches of the stream until they are due. Times are stream times in seconds. */
export class Harmony {
    constructor() {
        this.reset(null);
    }

    /** Begins a stream: reads which analyzers its header declares. */
    reset(hello) {
        this.pending = [];
        this.names = {};
        for (const analyzer of hello?.analyzers ?? []) {
            const plugin = analyzer.plugin ?? analyzer.id;
            if (HARMONY_PLUGINS.includes(plugin)) this.names[plugin] ??= analyzer.id;
        }
        const bins = hello?.analyzers?.find((analyzer) => analyzer.id === this.names.chroma)?.outputs?.find(({ name }) => name === "bins");
        const count = bins?.count;
        /** Strength of each bin of the octave from C on, 0…1; empty without chroma. */
        this.chroma = new Float32Array([12, 24, 36].includes(count) ? count : 0);
        this.target = new Float32Array(this.chroma.length);
        this.key = this.chord = this.frequency = this.tonic = null;
    }

    /** Whether the stream has an analyzer of this plugin. */
    has(plugin) {
        return plugin in this.names;
    }

    /** Adds a batch record. */
    add(batch) {
        if (!isNumber(batch.t)) return;
        this.pending.push(batch);
        if (this.pending.length > CAPACITY) this.pending.shift();
    }

    /** Reads the batches that are due at `time`, and moves the chroma towards the newest in `dt` seconds. */
    update(time, dt, isSlow) {
        let due = null;
        while (this.pending.length > 0 && this.pending[0].t <= time) due = this.pending.shift();
        if (due) this.read(due);
        const share = 1 - Math.exp(-dt / (isSlow ? 0.8 : 0.06));
        for (let i = 0; i < this.chroma.length; i++) this.chroma[i] += share * (this.target[i] - this.chroma[i]);
    }

    read(batch) {
        const values = batch[this.names.chroma]?.bins;
        for (let i = 0; i < this.target.length; i++) {
            this.target[i] = isNumber(values?.[i]) ? Math.min(1, Math.max(0, values[i])) : 0;
        }
        const key = batch[this.names["musical-key"]] ?? {};
        this.key = keyName(key);
        this.tonic = this.key === null ? null : key.tonic_number;
        this.chord = chordName(batch[this.names.chords]);
        const frequency = batch[this.names.pitch]?.f0_hz;
        this.frequency = isNumber(frequency) && frequency > 0 ? frequency : null;
    }
}
