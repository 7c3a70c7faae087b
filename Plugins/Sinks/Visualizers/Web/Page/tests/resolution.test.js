import { deepEqual } from "node:assert/strict";
import test from "node:test";

import { ResolutionControl } from "../stage/resolution.js";

/** A control after its first pictures, which took these milliseconds. */
function tried(...milliseconds) {
    const control = new ResolutionControl();
    for (const time of milliseconds) if (control.isTrial) control.tried(time);
    return control;
}

/** Draws for some seconds with a picture every `interval(scale)` milliseconds, and returns the time until pictures are too slow. */
function draw(control, seconds, interval) {
    let time = 0;
    control.measure(time);
    while (time < seconds * 1000 && !control.isTooSlow) control.measure(time += interval(control.scale));
    return time / 1000;
}

test("first pictures fast, the first one with its shaders: full size", () => {
    const { scale, isTooSlow, isTrial } = tried(400, 5, 9);
    deepEqual([scale, isTooSlow, isTrial], [1, false, false]);
});
test("first pictures of 40 ms: smaller pictures", () => deepEqual(tried(400, 40, 45).scale, 0.55));
test("smallest pictures above 50 ms: too slow", () => deepEqual(tried(900, 120, 110).isTooSlow, true));
test("second picture far too slow: no third", () => deepEqual(tried(900, 230).isTooSlow, true));
test("pictures of a second: too slow within 3 s", () => {
    const control = tried(50, 5, 5);
    deepEqual([draw(control, 20, () => 1000) <= 3, control.isTooSlow], [true, true]);
});
test("17 pictures a second whatever their size: too slow within 3 s", () => deepEqual(draw(tried(50, 5, 5), 20, () => 60) <= 3, true));
test("pictures that are fast when small: small, and not too slow", () => {
    const control = tried(50, 5, 5);
    draw(control, 20, (scale) => 16 + 100 * scale ** 2);
    deepEqual([control.scale < 1, control.isTooSlow], [true, false]);
});
test("one pause of 2 s: no change", () => {
    const control = tried(50, 5, 5);
    draw(control, 5, () => 16);
    control.measure(7000);
    for (let time = 7016; time < 12000; time += 16) control.measure(time);
    deepEqual([control.scale, control.isTooSlow], [1, false]);
});
