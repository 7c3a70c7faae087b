import { ok } from "node:assert/strict";

export function near(actual, expected, tolerance, what = "value") {
    ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual}, expected ${expected} ± ${tolerance}`);
}

/** Numbers of 0 ≤ x < 1, the same in every run. */
export function seededRandom(seed = 1) {
    let state = seed >>> 0;
    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 2 ** 32;
    };
}
