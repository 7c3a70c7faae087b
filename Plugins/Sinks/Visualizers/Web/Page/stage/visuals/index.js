// The presets of the page, in the order of the list.

import coral from "./coral.js";
import dial from "./dial.js";
import massif from "./massif.js";
import murmuration from "./murmuration.js";
import nebula from "./nebula.js";
import phosphor from "./phosphor.js";
import rose from "./rose.js";
import silk from "./silk.js";
import slitscan from "./slitscan.js";
import tide from "./tide.js";
import vinyl from "./vinyl.js";

export const presets = [nebula, massif, silk, slitscan, rose, murmuration, vinyl, coral, phosphor, dial, tide];
