// Check boxes of the settings, which this browser stores.

import { element, store, stored } from "./dom.js";

/** Connects a check box. `isOn`: without a stored value. `changed(checked)` is called now and after each change. */
export function connectSetting(id, isOn, changed = (_) => {}) {
    const box = element(id);
    const key = `hemiola.${id}`;
    box.checked = (stored(key) ?? (isOn ? "on" : "off")) === "on";
    box.addEventListener("change", () => {
        store(key, box.checked ? "on" : "off");
        changed(box.checked);
    });
    changed(box.checked);
    return box;
}
