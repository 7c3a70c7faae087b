// The presets of the page, in the order of the list.

import phosphor from "./phosphor.js";
import tide from "./tide.js";

export const presets = [tide, phosphor];
