import { deepEqual, equal } from "node:assert/strict";
import test from "node:test";

import { flashGrid } from "../stage/flash.js";
import { countFlashes } from "./flashes.js";

const FPS = 60;
const CELLS = flashGrid.columns * flashGrid.rows;
const grey = (level) => [level, level, level];

/** The flashes of three seconds in which `value(time, cell)` is the linear RGB of a cell. */
function count(value) {
    return countFlashes(Array.from({ length: 3 * FPS }, (_, number) => {
        const cells = new Float32Array(CELLS * 3);
        for (let cell = 0; cell < CELLS; cell += 1) cells.set(value(number / FPS, cell), cell * 3);
        return cells;
    }), FPS);
}

const square = (perSecond, high, low) => (time) => ((time * perSecond) % 1 < 0.5 ? high : low);
const flash = square(5, grey(0.5), grey(0.1));

test("5 flashes a second: 5", () => equal(count(flash).general, 5));
test("2 flashes a second: 2", () => equal(count(square(2, grey(0.5), grey(0.1))).general, 2));
test("change below 10 %: no flash", () => equal(count(square(10, grey(0.19), grey(0.1))).general, 0));
test("change above 80 %: no flash", () => equal(count(square(10, grey(1), grey(0.82))).general, 0));
test("a quarter of the area: no flash", () => equal(count((time, cell) => (cell < CELLS / 4 ? flash(time) : grey(0.1))).general, 0));
test("more than a quarter: flashes", () => equal(count((time, cell) => (cell < CELLS / 4 + 1 ? flash(time) : grey(0.1))).general, 5));
test("red and blue of low luminance: red flashes", () => deepEqual(count(square(5, [0.2, 0, 0], [0, 0, 0.2])), { general: 0, red: 5 }));
test("orange: no saturated red", () => equal(count(square(5, [0.2, 0.15, 0], [0, 0, 0.2])).red, 0));
test("slow rises and falls: flashes too", () => equal(count((time) => grey(0.3 + 0.25 * Math.sin(2 * Math.PI * 2 * time))).general, 2));
