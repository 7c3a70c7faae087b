import { deepEqual } from "node:assert/strict";
import test from "node:test";

import { parseOptions } from "../app/options.js";

const defaults = { transparent: false, bare: false, strobe: false, preset: null, seed: null, size: null, delay: null };

test("no parameters: defaults", () => deepEqual(parseOptions(""), defaults));
test("all parameters: read",
    () => deepEqual(parseOptions("?token=x&transparent&bare=1&strobe&preset=%C3%89lan&seed=7&size=1280x720&delay=0.08"), {
    transparent: true, bare: true, strobe: true, preset: "Élan", seed: 7, size: { width: 1280, height: 720 }, delay: 0.08,
}));
test("flag with the value 0: off", () => deepEqual(parseOptions("?bare=0&transparent=false").bare, false));
test("numbers out of range: limited", () => deepEqual(parseOptions("?delay=100&seed=-4"), { ...defaults, seed: 0, delay: 5 }));
test("invalid values: ignored", () => deepEqual(parseOptions("?seed=abc&size=12&delay="), defaults));
test("large size: limited", () => deepEqual(parseOptions("?size=99999x99999").size, { width: 8192, height: 8192 }));
test("size below 16 pixels: ignored", () => deepEqual(parseOptions("?size=0x0").size, null));
