// Search in preset names without regard to case and diacritics.

// Letters that Unicode does not decompose into a base letter and a mark.
const BASE_LETTERS = {
    æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ħ: "h", ı: "i", ł: "l", ŋ: "n", ŧ: "t", þ: "th", ß: "ss",
};

const normalized = new Map();

/** The normalized form of a name, which is remembered: there can be thousands of presets. */
function normalizedName(name) {
    let text = normalized.get(name);
    if (text === undefined) normalized.set(name, (text = normalizeForSearch(name)));
    return text;
}

/** Text in the form that is compared: lower case, base letters only, single spaces. */
export function normalizeForSearch(text) {
    return text
        .normalize("NFKD")
        .toLowerCase()
        .replace(/\p{M}/gu, "")
        .replace(/[æœøđðħıłŋŧþß]/g, (letter) => BASE_LETTERS[letter])
        .replace(/[^\p{L}\p{N}]+/gu, " ")
        .trim();
}

/**
 * Indices of the names that contain every word of the query, best first: names that begin with the query, then names with a word that
 * begins with it, then all others. The order of the names is kept otherwise. An empty query matches every name.
 */
export function searchNames(names, query) {
    const normalizedQuery = normalizeForSearch(query);
    const words = normalizedQuery.split(" ").filter(Boolean);
    const matches = [];
    names.forEach((name, index) => {
        const text = normalizedName(name);
        if (!words.every((word) => text.includes(word))) return;
        const rank = text.startsWith(normalizedQuery) ? 0 : ` ${text}`.includes(` ${normalizedQuery}`) ? 1 : 2;
        matches.push({ index, rank });
    });
    return matches.sort((a, b) => a.rank - b.rank || a.index - b.index).map((match) => match.index);
}
