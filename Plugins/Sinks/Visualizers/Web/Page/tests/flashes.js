// Counts the flashes of a sequence of pictures after WCAG 2.3.1, with the changes that the stage limits.

import { GENERAL_CHANGE, RED_CHANGE } from "../stage/flash.js";

const DARKER_LIMIT = 0.8;
const RED_SATURATION = 0.8;

/// The frame numbers at which a series of values has made a change of `change` against the previous direction.
function transitions(values, change, isCounted) {
    const found = [];
    let direction = 0;
    let low = 0;
    let high = 0;
    for (let index = 1; index < values.length; index += 1) {
        const value = values[index];
        if (direction >= 0) {
            if (value > values[high]) high = index;
            if (values[high] - value >= change && isCounted(high, index)) {
                found.push(index);
                direction = -1;
                low = index;
                continue;
            }
        }
        if (direction <= 0) {
            if (value < values[low]) low = index;
            if (value - values[low] >= change && isCounted(index, low)) {
                found.push(index);
                direction = 1;
                high = index;
            }
        }
    }
    return found;
}

/// For every frame: the number of flashes in the second that ends with it.
function flashesPerSecond(found, length, fps) {
    const counts = new Uint16Array(length);
    let first = 0;
    let next = 0;
    for (let index = 0; index < length; index += 1) {
        while (next < found.length && found[next] <= index) next += 1;
        while (first < next && found[first] <= index - fps) first += 1;
        counts[index] = (next - first) >> 1;
    }
    return counts;
}

/// The greatest number of flashes that more than `area` of the cells have within one second: {general, red}.
///
/// `frames` is an array of pictures; a picture is an array of linear RGB triples in 0…1, one for each cell of a coarse grid, black
/// behind transparent parts. `fps` is the frame rate. A picture sequence is safe if both numbers are 3 or less. Flashes of different
/// cells count together if they lie in the same second, which is stricter than the guideline's "concurrently".
export function countFlashes(frames, fps, { area = 0.25 } = {}) {
    const length = frames.length;
    if (length === 0) return { general: 0, red: 0 };
    const cells = frames[0].length / 3;
    const needed = Math.trunc(area * cells) + 1;
    const general = [];
    const red = [];
    for (let cell = 0; cell < cells; cell += 1) {
        const luminance = new Float32Array(length);
        const redness = new Float32Array(length);
        const isSaturated = new Uint8Array(length);
        for (let index = 0; index < length; index += 1) {
            const r = frames[index][cell * 3];
            const g = frames[index][cell * 3 + 1];
            const b = frames[index][cell * 3 + 2];
            luminance[index] = 0.2126 * r + 0.7152 * g + 0.0722 * b;
            redness[index] = Math.max(0, r - g - b);
            isSaturated[index] = r > 0 && r / (r + g + b) >= RED_SATURATION ? 1 : 0;
        }
        general.push(flashesPerSecond(
            transitions(luminance, GENERAL_CHANGE, (_, low) => luminance[low] < DARKER_LIMIT), length, fps));
        red.push(flashesPerSecond(
            transitions(redness, RED_CHANGE, (high, low) => isSaturated[high] === 1 || isSaturated[low] === 1), length, fps));
    }
    const worst = (counts) => {
        let greatest = 0;
        const sorted = new Uint16Array(cells);
        for (let index = 0; index < length; index += 1) {
            for (let cell = 0; cell < cells; cell += 1) sorted[cell] = counts[cell][index];
            sorted.sort();
            greatest = Math.max(greatest, sorted[cells - needed]);
        }
        return greatest;
    };
    return { general: worst(general), red: worst(red) };
}
