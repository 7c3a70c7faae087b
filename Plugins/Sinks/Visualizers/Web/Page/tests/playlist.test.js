import { deepEqual, ok } from "node:assert/strict";
import test from "node:test";

import { Favourites, Playlist } from "../app/playlist.js";
import { seededRandom } from "./check.js";

const names = ["A", "B", "C", "D"];

function storage(initial = {}) {
    const values = new Map(Object.entries(initial));
    return { getItem: (key) => values.get(key) ?? null, setItem: (key, value) => void values.set(key, value) };
}

test("next and previous: move in the list, and wrap around", () => {
    const list = new Playlist(names);
    deepEqual([list.next("A"), list.next("D"), list.previous("A"), list.next("unknown")], ["B", "A", "D", "A"]);
});

test("previous after other presets: the history backwards", () => {
    const list = new Playlist(names);
    for (const name of ["C", "A", "D"]) list.shown(name);
    deepEqual(list.previous("D"), "A");
    list.shown("A");
    deepEqual(list.previous("A"), "C");
    list.shown("C");
    deepEqual(list.next("C"), "A");
});

test("random: every other preset once per round, never the current one", () => {
    const list = new Playlist(names, seededRandom(4));
    let current = "A";
    for (let round = 0; round < 50; round++) {
        const next = list.randomName(current);
        ok(next !== current && names.includes(next), `${next} after ${current}`);
        current = next;
    }
    const first = [];
    const fresh = new Playlist(names, seededRandom(9));
    for (let i = 0; i < 3; i++) first.push(fresh.randomName("A"));
    deepEqual(first.sort(), ["B", "C", "D"]);
});

test("no presets, one preset: null, and this one", () => {
    deepEqual([new Playlist([]).randomName(null), new Playlist([]).next(null), new Playlist(["A"]).randomName("A")], [null, null, "A"]);
});

test("history: limited to 256 presets", () => {
    const list = new Playlist(names);
    for (let i = 0; i < 1000; i++) list.shown(names[i % 4]);
    deepEqual(list.history.length, 256);
});

test("favourites: stored, and read again", () => {
    const store = storage();
    const favourites = new Favourites(store);
    deepEqual([favourites.toggle("Élan"), favourites.has("Élan"), favourites.has("Elan")], [true, true, false]);
    deepEqual(new Favourites(store).has("Élan"), true);
    deepEqual(favourites.toggle("Élan"), false);
    deepEqual(new Favourites(store).has("Élan"), false);
});

test("damaged or missing storage: no favourites, no error", () => {
    deepEqual(new Favourites(storage({ "hemiola.favourites": "{" })).has("A"), false);
    deepEqual(new Favourites(null).toggle("A"), true);
});
