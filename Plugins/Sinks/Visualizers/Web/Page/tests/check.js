// Checks for the tests of the page's modules. Every test file exports `tests`: [{ name, run() }]; `run` throws if the test fails.

export function equal(actual, expected, what = "value") {
    const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (a !== b) throw new Error(`${what}: ${a}, expected ${b}`);
}

export function near(actual, expected, tolerance, what = "value") {
    if (!(Math.abs(actual - expected) <= tolerance)) throw new Error(`${what}: ${actual}, expected ${expected} ± ${tolerance}`);
}

export function isTrue(condition, what) {
    if (condition !== true) throw new Error(what);
}

/** Numbers of 0 ≤ x < 1, the same in every run. */
export function seededRandom(seed = 1) {
    let state = seed >>> 0;
    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 2 ** 32;
    };
}
