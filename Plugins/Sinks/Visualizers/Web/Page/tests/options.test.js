import { parseOptions } from "../app/options.js";
import { equal } from "./check.js";

const defaults = { transparent: false, bare: false, strobe: false, preset: null, seed: null, size: null, delay: null };

export const tests = [
    {
        name: "no parameters: defaults",
        run: () => equal(parseOptions(""), defaults),
    },
    {
        name: "all parameters: read",
        run: () => equal(parseOptions("?token=x&transparent&bare=1&strobe&preset=%C3%89lan&seed=7&size=1280x720&delay=0.08"), {
            transparent: true, bare: true, strobe: true, preset: "Élan", seed: 7, size: { width: 1280, height: 720 }, delay: 0.08,
        }),
    },
    { name: "flag with the value 0: off", run: () => equal(parseOptions("?bare=0&transparent=false").bare, false) },
    { name: "numbers out of range: limited", run: () => equal(parseOptions("?delay=100&seed=-4"), { ...defaults, seed: 0, delay: 5 }) },
    { name: "invalid values: ignored", run: () => equal(parseOptions("?seed=abc&size=12&delay="), defaults) },
    { name: "large size: limited", run: () => equal(parseOptions("?size=99999x99999").size, { width: 8192, height: 8192 }) },
    { name: "size below 16 pixels: ignored", run: () => equal(parseOptions("?size=0x0").size, null) },
];
