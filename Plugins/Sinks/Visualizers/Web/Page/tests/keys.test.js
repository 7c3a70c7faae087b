import { actionOfKey, noteOfKey, NOTE_KEYS } from "../app/keys.js";
import { equal } from "./check.js";

const input = (type) => ({ localName: "input", type, getAttribute: () => null });
const button = { localName: "button", getAttribute: () => null };

export const tests = [
    {
        name: "sixteen keys: the notes 60 to 75 in their order",
        run: () => equal([...NOTE_KEYS].map(noteOfKey), Array.from({ length: 16 }, (_, i) => 60 + i)),
    },
    { name: "capital letter: the same note", run: () => equal(noteOfKey("P"), 75) },
    { name: "other keys: no note", run: () => equal(["q", "1", "Enter", "", "aw"].map(noteOfKey), [null, null, null, null, null]) },
    { name: "note key on a button: plays", run: () => equal(actionOfKey({ key: "a" }, button), { note: 60, key: "a" }) },
    { name: "note key in a text field: text", run: () => equal(actionOfKey({ key: "a" }, input("search")), null) },
    { name: "note key on a slider: plays", run: () => equal(actionOfKey({ key: "w" }, input("range")), { note: 61, key: "w" }) },
    { name: "arrow key on a slider: moves it", run: () => equal(actionOfKey({ key: "ArrowLeft" }, input("range")), null) },
    { name: "arrow key elsewhere: previous preset", run: () => equal(actionOfKey({ key: "ArrowLeft" }, null), { action: "previous" }) },
    { name: "key with Ctrl: left to the browser", run: () => equal(actionOfKey({ key: "r", ctrlKey: true }, null), null) },
    {
        name: "shortcuts: no key that plays a note",
        run: () => equal([..."rcbmv"].map((key) => noteOfKey(key)), [null, null, null, null, null]),
    },
];
