import { deepEqual } from "node:assert/strict";
import test from "node:test";

import { actionOfKey, noteOfKey, NOTE_KEYS } from "../app/keys.js";

const input = (type) => ({ localName: "input", type, getAttribute: () => null });
const button = { localName: "button", getAttribute: () => null };

test("sixteen keys: the notes 60 to 75 in their order",
    () => deepEqual([...NOTE_KEYS].map(noteOfKey), Array.from({ length: 16 }, (_, i) => 60 + i)));
test("capital letter: the same note", () => deepEqual(noteOfKey("P"), 75));
test("other keys: no note", () => deepEqual(["q", "1", "Enter", "", "aw"].map(noteOfKey), [null, null, null, null, null]));
test("note key on a button: plays", () => deepEqual(actionOfKey({ key: "a" }, button), { note: 60, key: "a" }));
test("note key in a text field: text", () => deepEqual(actionOfKey({ key: "a" }, input("search")), null));
test("note key on a slider: plays", () => deepEqual(actionOfKey({ key: "w" }, input("range")), { note: 61, key: "w" }));
test("arrow key on a slider: moves it", () => deepEqual(actionOfKey({ key: "ArrowLeft" }, input("range")), null));
test("arrow key elsewhere: previous preset", () => deepEqual(actionOfKey({ key: "ArrowLeft" }, null), { action: "previous" }));
test("key with Ctrl: left to the browser", () => deepEqual(actionOfKey({ key: "r", ctrlKey: true }, null), null));
test("shortcuts: no key that plays a note", () => deepEqual([..."rcbmv"].map((key) => noteOfKey(key)), [null, null, null, null, null]));
