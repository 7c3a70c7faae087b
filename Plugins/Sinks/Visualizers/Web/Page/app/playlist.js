// Order of the presets where Hemiola does not change them, and the favourites of this browser.

const HISTORY_LENGTH = 256;
const STORAGE_KEY = "hemiola.favourites";

/** Chooses presets: next and previous in a history, random ones in rounds without repetition. */
export class Playlist {
    /** `random`: a function that returns numbers of 0 ≤ x < 1. */
    constructor(names, random = Math.random) {
        this.names = names;
        this.random = random;
        this.history = [];
        this.index = -1;
        this.round = [];
    }

    /** Notes that `name` is shown now. */
    shown(name) {
        if (this.history[this.index] === name) return;
        this.history.length = this.index + 1;
        this.history.push(name);
        if (this.history.length > HISTORY_LENGTH) this.history.shift();
        this.index = this.history.length - 1;
    }

    /** Name after `current`: in the history, else in the list. */
    next(current) {
        if (this.index + 1 < this.history.length) return this.history[++this.index];
        return this.neighbour(current, 1);
    }

    /** Name before `current`: in the history, else in the list. */
    previous(current) {
        if (this.index > 0) return this.history[--this.index];
        return this.neighbour(current, -1);
    }

    neighbour(current, step) {
        const count = this.names.length;
        const index = this.names.indexOf(current);
        return count === 0 ? null : this.names[((index < 0 ? (step > 0 ? -1 : 0) : index) + step + count) % count];
    }

    /** A random name other than `current`; each name appears once per round. */
    randomName(current) {
        if (this.names.length < 2) return this.names[0] ?? null;
        this.round = this.round.filter((name) => name !== current && this.names.includes(name));
        if (this.round.length === 0) this.round = this.names.filter((name) => name !== current);
        const [name] = this.round.splice(Math.floor(this.random() * this.round.length), 1);
        return name;
    }
}

/** Names that the user has marked, stored in the browser. */
export class Favourites {
    constructor(storage) {
        this.storage = storage;
        this.names = new Set();
        try {
            const stored = JSON.parse(storage?.getItem(STORAGE_KEY) ?? "[]");
            if (Array.isArray(stored)) for (const name of stored.slice(0, 10000)) if (typeof name === "string") this.names.add(name);
        } catch {
            // Damaged or disabled storage: the list begins empty.
        }
    }

    has(name) {
        return this.names.has(name);
    }

    /** Marks or unmarks a name, and returns whether it is marked now. */
    toggle(name) {
        const marked = !this.names.delete(name);
        if (marked) this.names.add(name);
        try {
            this.storage?.setItem(STORAGE_KEY, JSON.stringify([...this.names]));
        } catch {
            // Full or disabled storage: the favourites last for this page view.
        }
        return marked;
    }
}
