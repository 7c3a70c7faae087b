// Check boxes of the settings, which this browser stores.

import { element, storage } from "./dom.js";

/** Connects a check box. `isOn`: without a stored value. `changed(checked)` is called now and after each change. */
export function connectSetting(id, isOn, changed = (_) => {}) {
    const box = element(id);
    const key = `hemiola.${id}`;
    box.checked = (storage()?.getItem(key) ?? (isOn ? "on" : "off")) === "on";
    box.addEventListener("change", () => {
        try {
            storage()?.setItem(key, box.checked ? "on" : "off");
        } catch {
            // Full or disabled storage: the setting lasts for this page view.
        }
        changed(box.checked);
    });
    changed(box.checked);
    return box;
}
