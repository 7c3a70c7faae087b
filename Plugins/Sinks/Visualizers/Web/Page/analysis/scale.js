// Axes that several displays share: frequency (logarithmic), level and colour.

import { linearToSRGB, oklabToLinear } from "./colour.js";

const MIN_HZ = 30;
const MAX_HZ = 16000;
export const MIN_DB = -84;
export const MAX_DB = 0;

/** Labelled frequencies, octaves apart. */
export const FREQUENCY_LABELS = [
    [31.5, "31"], [63, "63"], [125, "125"], [250, "250"], [500, "500"],
    [1000, "1k"], [2000, "2k"], [4000, "4k"], [8000, "8k"], [16000, "16k"],
];

/** Position 0…1 of a frequency on the axis. */
export const positionOfFrequency = (hertz) => Math.log(hertz / MIN_HZ) / Math.log(MAX_HZ / MIN_HZ);

export const frequencyOfPosition = (position) => MIN_HZ * (MAX_HZ / MIN_HZ) ** position;

/** Position 0…1 of a level on the axis, limited to it. */
export const positionOfLevel = (decibels) => Math.min(1, Math.max(0, (decibels - MIN_DB) / (MAX_DB - MIN_DB)));

// Control points in OKLCH: lightness, chroma, hue in degrees. Lightness rises evenly, so that equal differences of level look equal.
const DARK_MAP = [[0.13, 0.02, 265], [0.3, 0.11, 285], [0.47, 0.17, 330], [0.64, 0.17, 25], [0.81, 0.14, 70], [0.97, 0.06, 105]];
const LIGHT_MAP = [[0.985, 0.005, 250], [0.86, 0.06, 215], [0.7, 0.11, 205], [0.54, 0.13, 250], [0.38, 0.16, 285], [0.2, 0.08, 300]];

/** Colour map: 256 entries, 4 bytes R G B A each. */
export function colourMap(dark = true) {
    const points = dark ? DARK_MAP : LIGHT_MAP;
    const bytes = new Uint8ClampedArray(256 * 4);
    for (let i = 0; i < 256; i++) {
        const position = (i / 255) * (points.length - 1);
        const index = Math.min(points.length - 2, Math.floor(position));
        const weight = position - index;
        const low = points[index];
        const high = points[index + 1];
        const turn = ((high[2] - low[2] + 540) % 360) - 180;
        const rgb = rgbOfLCH(low[0] + weight * (high[0] - low[0]), low[1] + weight * (high[1] - low[1]), low[2] + weight * turn);
        bytes.set([...rgb.map((value) => Math.round(255 * value)), 255], 4 * i);
    }
    return bytes;
}

/** sRGB, 0…1, of an OKLCH colour. */
function rgbOfLCH(lightness, chroma, hue) {
    const angle = (hue * Math.PI) / 180;
    return oklabToLinear([lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)]).map(linearToSRGB);
}
