import { deepEqual } from "node:assert/strict";
import test from "node:test";

import { normalizeForSearch, searchNames } from "../app/search.js";

const names = ["Élan vital", "Rain", "Schneeflöckchen", "Night Rain", "Łódź", "Straße 7", "terrain"];
const found = (query) => searchNames(names, query).map((index) => names[index]);

test("case and diacritics: ignored in the query", () => deepEqual(found("elan"), ["Élan vital"]));
test("case and diacritics: ignored in the name", () => deepEqual(found("ÉLÂN"), ["Élan vital"]));
test("decomposed text: equals composed text", () => deepEqual(found("E\u0301lan"), ["Élan vital"]));
test("letters without decomposition: compared by their base letters", () => deepEqual(found("lodz"), ["Łódź"]));
test("sharp s: equals ss", () => deepEqual(found("STRASSE"), ["Straße 7"]));
test("words: match in any order", () => deepEqual(found("rain night"), ["Night Rain"]));
test("several matches: beginnings of names first, then of words", () => deepEqual(found("rain"), ["Rain", "Night Rain", "terrain"]));
test("empty query: matches all names in their order", () => deepEqual(found("  "), names));
test("no match: empty list", () => deepEqual(found("xyz"), []));
test("punctuation: separates words", () => deepEqual(normalizeForSearch("Flexi - mindblob (mix)"), "flexi mindblob mix"));
test("non-Latin letters: kept", () => deepEqual(normalizeForSearch("Ночь 夜"), "ночь 夜"));
