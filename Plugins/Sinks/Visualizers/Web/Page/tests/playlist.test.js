import { deepEqual, ok } from "node:assert/strict";
import test from "node:test";

import { Playlist, Ratings } from "../app/playlist.js";
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
    const list = new Playlist(names, undefined, seededRandom(4));
    let current = "A";
    for (let round = 0; round < 50; round++) {
        const next = list.randomName(current);
        ok(next !== current && names.includes(next), `${next} after ${current}`);
        current = next;
    }
    const first = [];
    const fresh = new Playlist(names, undefined, seededRandom(9));
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

test("random with ratings: 1 does not come by itself, 4 and 5 come two and three times in a round", () => {
    const ratings = new Ratings(storage());
    for (const [name, rating] of [["B", 1], ["C", 4], ["D", 5]]) ratings.rate(name, rating);
    const list = new Playlist(["A", "B", "C", "D", "E"], (name) => ratings.share(name), seededRandom(9));
    const round = Array.from({ length: 6 }, () => list.randomName("A")).sort();
    deepEqual(round, ["C", "C", "D", "D", "D", "E"]);
    for (const name of ["C", "D", "E"]) ratings.rate(name, 1);
    ok(list.randomName("A") !== "A", "all others are rated 1");
});

test("ratings: stored, and read again; 5 is a favourite", () => {
    const store = storage();
    const ratings = new Ratings(store);
    deepEqual([ratings.of("Élan"), ratings.rate("Élan", 4), ratings.rate("Élan", 7), ratings.isFavourite("Élan")], [3, 4, 5, true]);
    deepEqual([new Ratings(store).of("Élan"), new Ratings(store).of("Elan")], [5, 3]);
    deepEqual([ratings.toggleFavourite("Élan"), ratings.toggleFavourite("Rain"), ratings.rate("Rain", 0)], [false, true, 1]);
    deepEqual([new Ratings(store).of("Élan"), new Ratings(store).of("Rain")], [3, 1]);
});

test("damaged or missing storage: no ratings, no error", () => {
    for (const text of ["{", "[1]", "null", '{"A": 9, "B": "x"}']) deepEqual(new Ratings(storage({ "hemiola.ratings": text })).of("A"), 3);
    deepEqual(new Ratings(null).rate("A", 5), 5);
});
