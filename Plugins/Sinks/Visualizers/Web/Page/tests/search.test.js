import { normalizeForSearch, searchNames } from "../app/search.js";
import { equal } from "./check.js";

const names = ["Élan vital", "Rain", "Schneeflöckchen", "Night Rain", "Łódź", "Straße 7", "terrain"];
const found = (query) => searchNames(names, query).map((index) => names[index]);

export const tests = [
    { name: "case and diacritics: ignored in the query", run: () => equal(found("elan"), ["Élan vital"]) },
    { name: "case and diacritics: ignored in the name", run: () => equal(found("ÉLÂN"), ["Élan vital"]) },
    { name: "decomposed text: equals composed text", run: () => equal(found("E\u0301lan"), ["Élan vital"]) },
    { name: "letters without decomposition: compared by their base letters", run: () => equal(found("lodz"), ["Łódź"]) },
    { name: "sharp s: equals ss", run: () => equal(found("STRASSE"), ["Straße 7"]) },
    { name: "words: match in any order", run: () => equal(found("rain night"), ["Night Rain"]) },
    {
        name: "several matches: beginnings of names first, then of words",
        run: () => equal(found("rain"), ["Rain", "Night Rain", "terrain"]),
    },
    { name: "empty query: matches all names in their order", run: () => equal(found("  "), names) },
    { name: "no match: empty list", run: () => equal(found("xyz"), []) },
    { name: "punctuation: separates words", run: () => equal(normalizeForSearch("Flexi - mindblob (mix)"), "flexi mindblob mix") },
    { name: "non-Latin letters: kept", run: () => equal(normalizeForSearch("Ночь 夜"), "ночь 夜") },
];
