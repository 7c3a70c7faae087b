import { deepEqual, ok } from "node:assert/strict";
import test from "node:test";

import {
    colourMap, FREQUENCY_LABELS, frequencyOfPosition, positionOfFrequency, positionOfLevel,
} from "../analysis/scale.js";
import { near } from "./check.js";

/** Relative luminance of an entry of the colour map. */
function luminance(map, index) {
    const linear = [0, 1, 2].map((channel) => (map[4 * index + channel] / 255) ** 2.2);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

test("frequency axis: 30 Hz to 16 kHz", () => deepEqual([30, 16000].map(positionOfFrequency), [0, 1]));

test("octaves: equal distances", () => {
    const positions = FREQUENCY_LABELS.slice(1).map(([hertz]) => positionOfFrequency(hertz));
    for (let i = 2; i < positions.length; i++) {
        near(positions[i] - positions[i - 1], positions[1] - positions[0], 0.002, FREQUENCY_LABELS[i + 1][1]);
    }
});

test("position and frequency: inverse", () => near(frequencyOfPosition(positionOfFrequency(440)), 440, 1e-6));
test("levels outside the axis: limited", () => deepEqual([-200, -84, 0, 20].map(positionOfLevel), [0, 0, 1, 1]));

for (const dark of [true, false]) {
    test(`colour map (${dark ? "dark" : "light"}): luminance changes in one direction`, () => {
        const map = colourMap(dark);
        for (let i = 8; i < 256; i += 8) {
            const step = luminance(map, i) - luminance(map, i - 8);
            ok(dark ? step > 0 : step < 0, `entry ${i}: ${step}`);
        }
    });
}
