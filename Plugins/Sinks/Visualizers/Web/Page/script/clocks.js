// The times of the stream, of the host and of this page.

/** Estimates the host's clock minus performance.now(), in ms, from request and answer times. */
class ClockOffset {
    constructor(capacity = 16) {
        this.capacity = capacity;
        this.measurements = [];
        this.value = NaN;
    }

    /** Adds one exchange. The exchange with the minimum round trip gives the offset: its delays are the least asymmetric. */
    add(sent, hostTime, received) {
        this.measurements.push({ roundTrip: received - sent, offset: hostTime - (sent + received) / 2 });
        if (this.measurements.length > this.capacity) this.measurements.shift();
        let best = this.measurements[0];
        for (const measurement of this.measurements) if (measurement.roundTrip <= best.roundTrip) best = measurement;
        this.value = best.offset;
        return this.value;
    }
}

/** Estimates clock time minus stream time, in ms, from the times at which batches were encoded. */
class StreamClock {
    /** `capacity`: number of the latest messages that are used; 430 are 10 s at 44.1 kHz, 9 s at 48 kHz. */
    constructor(capacity = 430) {
        this.differences = new Float64Array(capacity);
        this.reset();
    }

    reset() {
        this.count = 0;
        this.next = 0;
        this.late = 0;
        this.value = NaN;
    }

    /**
     * Adds a batch that ends at `streamTime` and was encoded at `clockTime`, both in ms. Encoding is late by a varying time and never
     * early, so the minimum is used. The limited window follows the drift between the two clocks. If all batches of one second are
     * later than the minimum by more than 40 ms, the stream was interrupted and the window restarts.
     */
    add(streamTime, clockTime) {
        const difference = clockTime - streamTime;
        this.late = difference > this.value + 40 ? this.late + 1 : 0;
        if (this.late >= 43) {
            const latest = this.differences.length;
            const recent = [];
            for (let i = 1; i < 43; i++) recent.push(this.differences[(this.next - i + latest) % latest]);
            this.reset();
            for (const earlier of recent) this.store(earlier);
        }
        this.store(difference);
        let minimum = Infinity;
        for (let i = 0; i < this.count; i++) if (this.differences[i] < minimum) minimum = this.differences[i];
        this.value = minimum;
        return this.value;
    }

    store(difference) {
        this.differences[this.next] = difference;
        this.next = (this.next + 1) % this.differences.length;
        if (this.count < this.differences.length) this.count += 1;
    }
}

const clockOffset = new ClockOffset();
const streamClock = new StreamClock();
// Whether streamClock uses the host's clock. JSON samples have no host time: then it uses the time of arrival.
let usesHostTime = false;

function localDifference() {
    return usesHostTime ? streamClock.value - clockOffset.value : streamClock.value;
}

function measureClock() {
    transmit({ type: "clock", sent: performance.now() });
}
