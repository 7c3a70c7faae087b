import {
    colourMap, FREQUENCY_LABELS, frequencyOfPosition, positionOfFrequency, positionOfLevel,
} from "../analysis/scale.js";
import { equal, isTrue, near } from "./check.js";

/** Relative luminance of an entry of the colour map. */
function luminance(map, index) {
    const linear = [0, 1, 2].map((channel) => (map[4 * index + channel] / 255) ** 2.2);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

export const tests = [
    { name: "frequency axis: 30 Hz to 16 kHz", run: () => equal([30, 16000].map(positionOfFrequency), [0, 1]) },
    {
        name: "octaves: equal distances",
        run() {
            const positions = FREQUENCY_LABELS.slice(1).map(([hertz]) => positionOfFrequency(hertz));
            for (let i = 2; i < positions.length; i++) {
                near(positions[i] - positions[i - 1], positions[1] - positions[0], 0.002, FREQUENCY_LABELS[i + 1][1]);
            }
        },
    },
    { name: "position and frequency: inverse", run: () => near(frequencyOfPosition(positionOfFrequency(440)), 440, 1e-6) },
    { name: "levels outside the axis: limited", run: () => equal([-200, -84, 0, 20].map(positionOfLevel), [0, 0, 1, 1]) },
    ...[true, false].map((dark) => ({
        name: `colour map (${dark ? "dark" : "light"}): luminance changes in one direction`,
        run() {
            const map = colourMap(dark);
            for (let i = 8; i < 256; i += 8) {
                const step = luminance(map, i) - luminance(map, i - 8);
                isTrue(dark ? step > 0 : step < 0, `entry ${i}: ${step}`);
            }
        },
    })),
];
