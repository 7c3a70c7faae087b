// The resolution of the stage's pictures, adapted to the speed of the GPU.

const SCALES = [1, 0.82, 0.67, 0.55, 0.45, 0.36];
const LOWEST = SCALES.length - 1;
const SLOW_MILLISECONDS = 24;
const FAST_MILLISECONDS = 18.5;
// 20 pictures a second. What is slower is not worth its looks.
const TOO_SLOW_MILLISECONDS = 50;
const SLOW_SECONDS = 0.7;
const TRIAL_PICTURES = 3;

/// Chooses a scale: for the first pictures by the time that they take, then by the time between pictures.
///
/// Software that computes WebGL on the processor needs seconds for a picture. The first pictures are therefore small and waited for: one that
/// compiles shaders and does not count, and two more, or one if it is far too slow.
///
/// A reduction that makes the pictures no faster is taken back: the display or the browser is slow then, not the GPU.
export class ResolutionControl {
    /// Whether the smallest pictures are too slow: presets cannot be drawn.
    isTooSlow = false;
    /// Whether the next picture is one of the first.
    isTrial;
    #trial = [];
    #level;
    #last = null;
    #average = 16;
    #slow = 0;
    #wasSlow = false;
    #fast = 0;
    #hold = 20;
    #pause = 0;
    #before = null;

    /// `isTrial`: whether the first pictures are waited for; else they have the full size.
    constructor(isTrial = true) {
        this.isTrial = isTrial;
        this.#level = isTrial ? LOWEST : 0;
    }

    get scale() { return SCALES[this.#level]; }

    /// Takes the milliseconds that one of the first pictures took. Returns true when the scale has changed.
    tried(milliseconds) {
        this.#trial.push(milliseconds);
        if (this.#trial.length === 1) return false;
        const smallest = Math.min(...this.#trial.slice(1));
        if (this.#trial.length < TRIAL_PICTURES && smallest < 4 * TOO_SLOW_MILLISECONDS) return false;
        this.isTrial = false;
        this.isTooSlow = smallest > TOO_SLOW_MILLISECONDS;
        // Waiting for a picture takes time too, so that only an estimate far above the limit counts.
        const estimate = (level) => smallest * (SCALES[level] / SCALES[LOWEST]) ** 2;
        while (this.#level > 0 && estimate(this.#level - 1) < 2 * TOO_SLOW_MILLISECONDS) this.#level -= 1;
        return true;
    }

    /// Takes the time of a picture in milliseconds. Returns true when the scale has changed, or the pictures are too slow.
    measure(now) {
        const interval = this.#last === null ? 0 : now - this.#last;
        this.#last = now;
        // After a longer time the page was hidden or the computer asleep.
        if (interval <= 0 || interval > 5000) return false;
        this.#average += 0.1 * (Math.min(500, interval) - this.#average);
        this.#pause = Math.max(0, this.#pause - interval / 1000);
        // One long interval is a pause of the browser.
        const counts = this.#wasSlow ? interval / 1000 : 0;
        this.#wasSlow = interval > SLOW_MILLISECONDS;
        this.#slow = this.#average > SLOW_MILLISECONDS && this.#pause === 0 ? this.#slow + counts : 0;
        this.#fast = this.#average < FAST_MILLISECONDS ? this.#fast + interval / 1000 : 0;
        if (this.#average > TOO_SLOW_MILLISECONDS && this.#slow > SLOW_SECONDS) return this.#reduceToLowest();
        if (this.#slow > SLOW_SECONDS) return this.#reduce();
        if (this.#fast > this.#hold && this.#level > 0) {
            this.#level -= 1;
            this.#fast = 0;
            this.#before = null;
            return true;
        }
        return false;
    }

    #reduceToLowest() {
        this.isTooSlow = this.#level === LOWEST;
        this.#level = LOWEST;
        this.#average = SLOW_MILLISECONDS;
        this.#slow = 0;
        this.#before = null;
        this.#hold = 600;
        return true;
    }

    #reduce() {
        this.#slow = 0;
        if (this.#before !== null && this.#average > this.#before * 0.93) {
            this.#level -= 1;
            this.#before = null;
            this.#pause = 60;
            return true;
        }
        if (this.#level === LOWEST) return false;
        this.#before = this.#average;
        this.#level += 1;
        // Every reduction doubles the time before the next increase, so that the picture does not alternate.
        this.#hold = Math.min(600, this.#hold * 2);
        return true;
    }
}
