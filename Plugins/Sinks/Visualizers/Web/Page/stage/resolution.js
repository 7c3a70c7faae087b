// The resolution of the stage's pictures, adapted to the speed of the GPU.

const SCALES = [1, 0.82, 0.67, 0.55, 0.45, 0.36];
const SLOW_MILLISECONDS = 24;
const FAST_MILLISECONDS = 18.5;

/// Chooses a scale by the time between pictures: lower after 40 slow pictures, higher after a time of fast ones.
///
/// A reduction that makes the pictures no faster is taken back: the display or the browser is slow then, not the GPU.
export class ResolutionControl {
    #level = 0;
    #last = null;
    #average = 16;
    #slow = 0;
    #fast = 0;
    #hold = 20;
    #pause = 0;
    #before = null;

    get scale() { return SCALES[this.#level]; }

    /// Takes the time of a picture in milliseconds. Returns true when the scale has changed.
    measure(now) {
        const interval = this.#last === null ? null : now - this.#last;
        this.#last = now;
        if (interval === null || interval <= 0 || interval > 500) return false;
        this.#average += 0.1 * (interval - this.#average);
        this.#pause = Math.max(0, this.#pause - interval / 1000);
        this.#slow = this.#average > SLOW_MILLISECONDS && this.#pause === 0 ? this.#slow + 1 : 0;
        this.#fast = this.#average < FAST_MILLISECONDS ? this.#fast + interval / 1000 : 0;
        if (this.#slow > 40) return this.#reduce();
        if (this.#fast > this.#hold && this.#level > 0) {
            this.#level -= 1;
            this.#fast = 0;
            this.#before = null;
            return true;
        }
        return false;
    }

    #reduce() {
        this.#slow = 0;
        if (this.#before !== null && this.#average > this.#before * 0.93) {
            this.#level -= 1;
            this.#before = null;
            this.#pause = 60;
            return true;
        }
        if (this.#level === SCALES.length - 1) return false;
        this.#before = this.#average;
        this.#level += 1;
        // Every reduction doubles the time before the next increase, so that the picture does not alternate.
        this.#hold = Math.min(600, this.#hold * 2);
        return true;
    }
}
