import { deepEqual } from "node:assert/strict";
import test from "node:test";

import { PresetControl } from "../app/presetcontrol.js";

globalThis.document = { getElementById: () => ({}) };

/** A control without elements, whose requests wait for `answers`. */
function presetControl(names) {
    const answers = [];
    const requests = [];
    const list = { favourites: new Set(names) };
    return Object.assign(Object.create(PresetControl.prototype), {
        answers, requests, list, stage: {}, favourites: names, marking: 0,
        showFavourites: (marked) => { list.favourites = new Set(marked); },
        request: (message) => {
            requests.push(message.names);
            return new Promise((resolve) => answers.push(resolve));
        },
    });
}

test("second mark before the reply to the first: both are kept", async () => {
    const presets = presetControl(["x"]);
    const marks = [presets.toggleFavourite("a"), presets.toggleFavourite("b")];
    deepEqual(presets.requests, [["x", "a"], ["x", "a", "b"]]);
    for (const answer of presets.answers) answer(true);
    await Promise.all(marks);
    deepEqual([...presets.list.favourites], ["x", "a", "b"]);
});

test("third mark after the list of the first: all are kept", async () => {
    const presets = presetControl(["x"]);
    const marks = [presets.toggleFavourite("a"), presets.toggleFavourite("b")];
    presets.setFavourites(["x", "a"]);
    presets.answers[0](true);
    await marks[0];
    marks.push(presets.toggleFavourite("c"));
    deepEqual(presets.requests[2], ["x", "a", "b", "c"]);
    for (const answer of presets.answers) answer(true);
    await Promise.all(marks);
    deepEqual([...presets.list.favourites], ["x", "a", "b", "c"]);
    presets.setFavourites(["y"]);
    deepEqual([...presets.list.favourites], ["y"]);
});

test("refused marks: are restored", async () => {
    const presets = presetControl(["x", "y"]);
    const marks = [presets.toggleFavourite("a"), presets.toggleFavourite("x")];
    deepEqual([...presets.list.favourites], ["y", "a"]);
    for (const answer of presets.answers) answer(false);
    await Promise.all(marks);
    deepEqual([...presets.list.favourites].sort(), ["x", "y"]);
});
