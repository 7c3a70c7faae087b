import assert from "node:assert/strict";
import test from "node:test";
import { DrumLights } from "../analysis/drums.js";

test("before the first stroke there are no lights", () => {
    assert.equal(new DrumLights().at(1), null);
});

test("an announced stroke lights at its time, and its confirmation does not light it again", () => {
    const lights = new DrumLights();
    lights.add({ type: "expected_drum", t: 2, voice: "snare", strength: 1 });
    assert.equal(lights.at(1.9).snare, 0);
    assert.equal(lights.at(2).snare, 1);
    lights.add({ type: "drum", t: 2.01, voice: "snare", strength: 1, expected: true });
    assert.ok(lights.at(2.2).snare < 0.2);
    assert.equal(lights.at(2.2).kick, 0);
});

test("a stroke of another program's voice, or without a time, is left out", () => {
    const lights = new DrumLights();
    lights.add({ type: "drum", t: 1, voice: "cowbell", strength: 1, expected: false });
    lights.add({ type: "drum", t: NaN, voice: "kick", strength: 1, expected: false });
    assert.equal(lights.at(1), null);
});
