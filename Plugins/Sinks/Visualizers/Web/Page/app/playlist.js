// Order of the presets where Hemiola does not change them, and their ratings in this browser.

const HISTORY_LENGTH = 256;
const STORAGE_KEY = "hemiola.ratings";
const UNRATED = 3;
const FAVOURITE = 5;

/** Chooses presets: next and previous in a history, random ones in rounds without repetition. */
export class Playlist {
    /** `share(name)`: how often a name comes in a round; `random()` returns numbers of 0 ≤ x < 1. */
    constructor(names, share = (_) => 1, random = Math.random) {
        this.names = names;
        this.share = share;
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

    /** A random name other than `current`, in rounds. */
    randomName(current) {
        if (this.names.length < 2) return this.names[0] ?? null;
        const others = this.names.filter((name) => name !== current);
        const wanted = new Map(others.map((name) => [name, this.share(name)]).filter(([, share]) => share > 0));
        this.round = this.round.filter((name) => wanted.has(name));
        if (this.round.length === 0) this.round = [...wanted].flatMap(([name, share]) => Array(share).fill(name));
        if (this.round.length === 0) this.round = others;
        const [name] = this.round.splice(Math.floor(this.random() * this.round.length), 1);
        return name;
    }
}

/** What the user thinks of the presets, 1…5, stored in the browser. */
export class Ratings {
    constructor(storage) {
        this.storage = storage;
        this.values = new Map();
        try {
            const stored = JSON.parse(storage?.getItem(STORAGE_KEY) ?? "{}");
            for (const [name, value] of Object.entries(stored).slice(0, 10000)) {
                if (Number.isInteger(value) && value >= 1 && value <= FAVOURITE) this.values.set(name, value);
            }
        } catch {
            // Damaged or disabled storage: nothing is rated.
        }
    }

    of(name) {
        return this.values.get(name) ?? UNRATED;
    }

    isFavourite(name) {
        return this.of(name) === FAVOURITE;
    }

    /** How often a preset comes in a round of random ones. */
    share(name) {
        return [0, 1, 1, 2, 3][this.of(name) - 1];
    }

    /** Rates a preset, and returns the rating. */
    rate(name, rating) {
        const value = Math.min(FAVOURITE, Math.max(1, rating));
        if (value === UNRATED) this.values.delete(name);
        else this.values.set(name, value);
        try {
            this.storage?.setItem(STORAGE_KEY, JSON.stringify(Object.fromEntries(this.values)));
        } catch {
            // Full or disabled storage: the ratings last for this page view.
        }
        return value;
    }

    /** Marks or unmarks a favourite, and returns whether it is one now. */
    toggleFavourite(name) {
        return this.rate(name, this.isFavourite(name) ? UNRATED : FAVOURITE) === FAVOURITE;
    }
}
