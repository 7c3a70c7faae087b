import { Favourites, Playlist } from "../app/playlist.js";
import { equal, isTrue, seededRandom } from "./check.js";

const names = ["A", "B", "C", "D"];

function storage(initial = {}) {
    const values = new Map(Object.entries(initial));
    return { getItem: (key) => values.get(key) ?? null, setItem: (key, value) => void values.set(key, value) };
}

export const tests = [
    {
        name: "next and previous: move in the list, and wrap around",
        run() {
            const list = new Playlist(names);
            equal([list.next("A"), list.next("D"), list.previous("A"), list.next("unknown")], ["B", "A", "D", "A"]);
        },
    },
    {
        name: "previous after other presets: the history backwards",
        run() {
            const list = new Playlist(names);
            for (const name of ["C", "A", "D"]) list.shown(name);
            equal(list.previous("D"), "A");
            list.shown("A");
            equal(list.previous("A"), "C");
            list.shown("C");
            equal(list.next("C"), "A");
        },
    },
    {
        name: "random: every other preset once per round, never the current one",
        run() {
            const list = new Playlist(names, seededRandom(4));
            let current = "A";
            for (let round = 0; round < 50; round++) {
                const next = list.randomName(current);
                isTrue(next !== current && names.includes(next), `${next} after ${current}`);
                current = next;
            }
            const first = [];
            const fresh = new Playlist(names, seededRandom(9));
            for (let i = 0; i < 3; i++) first.push(fresh.randomName("A"));
            equal(first.sort(), ["B", "C", "D"]);
        },
    },
    {
        name: "no presets, one preset: null, and this one",
        run() {
            equal([new Playlist([]).randomName(null), new Playlist([]).next(null), new Playlist(["A"]).randomName("A")], [null, null, "A"]);
        },
    },
    {
        name: "history: limited to 256 presets",
        run() {
            const list = new Playlist(names);
            for (let i = 0; i < 1000; i++) list.shown(names[i % 4]);
            equal(list.history.length, 256);
        },
    },
    {
        name: "favourites: stored, and read again",
        run() {
            const store = storage();
            const favourites = new Favourites(store);
            equal([favourites.toggle("Élan"), favourites.has("Élan"), favourites.has("Elan")], [true, true, false]);
            equal(new Favourites(store).has("Élan"), true);
            equal(favourites.toggle("Élan"), false);
            equal(new Favourites(store).has("Élan"), false);
        },
    },
    {
        name: "damaged or missing storage: no favourites, no error",
        run() {
            equal(new Favourites(storage({ "hemiola.favourites": "{" })).has("A"), false);
            equal(new Favourites(null).toggle("A"), true);
        },
    },
];
