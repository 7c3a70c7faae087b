// The keyboard: which key plays a note, and which one is a shortcut. The list of the settings is made from the same table.

import { element, make } from "./dom.js";
import { connectSetting } from "./settings.js";

/** Keys in the order of the MIDI notes 60 to 75. */
export const NOTE_KEYS = "awsedftgyhujkolp";

/**
 * The shortcuts in the order of the list. Letters that play notes are not used. `midi` is what does the same on a controller with
 * `--control midi` and its own map.
 */
export const SHORTCUTS = [
    { action: "previous", key: "ArrowLeft", shown: "←", midi: "note 38", text: "Previous preset" },
    { action: "next", key: "ArrowRight", shown: "→", midi: "note 39", text: "Next preset" },
    { action: "random", key: "r", midi: "note 40", text: "Random preset" },
    { action: "cycle", key: "c", midi: "note 46", text: "Change presets automatically" },
    { action: "blackout", key: ".", midi: "note 43", text: "Blackout, also of the lights" },
    { action: "freeze", key: "z", text: "Freeze the picture" },
    { action: "fullScreen", key: "x", text: "Full screen" },
    { action: "tap", key: "b", midi: "note 36", text: "Tap the beat" },
    { action: "favourite", key: "m", text: "Favourite" },
    { action: "search", key: "/", text: "Search presets" },
    { action: "hide", key: "v", text: "Hide the controls, or show them" },
    { action: "show", key: "?", text: "Show the controls" },
];

const byKey = new Map(SHORTCUTS.map((shortcut) => [shortcut.key, shortcut.action]));

/** MIDI note of a key, or null. */
export function noteOfKey(key) {
    const index = key.length === 1 ? NOTE_KEYS.indexOf(key.toLowerCase()) : -1;
    return index < 0 ? null : 60 + index;
}

/** Whether a key event belongs to the element that has the focus: text input, or a control that uses this key itself. */
export function belongsToElement(key, element) {
    if (!element) return false;
    const name = element.localName;
    const type = name === "input" ? element.type : "";
    if (name === "textarea" || name === "select" || element.isContentEditable) return true;
    if (name === "input" && !["range", "checkbox", "radio", "button"].includes(type)) return true;
    if (type === "range") return key.startsWith("Arrow") || ["Home", "End", "PageUp", "PageDown"].includes(key);
    return element.getAttribute?.("role") === "option" && key.startsWith("Arrow");
}

/** Action of a key event: {note, key}, {action}, or null. Modified keys are the browser's. */
export function actionOfKey(event, element) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return null;
    if (belongsToElement(event.key, element)) return null;
    const note = noteOfKey(event.key);
    if (note !== null) return { note, key: event.key.toLowerCase() };
    const action = byKey.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
    return action ? { action } : null;
}

/** Connects the keyboard. `actions`: functions by the actions of the table, and `escape`. */
export function connectKeyboard(actions) {
    element("keys").append(...SHORTCUTS.map(({ key, shown, midi, text }) => make(
        "tr", {}, make("td", {}, make("kbd", {}, shown ?? key.toUpperCase())), make("td", {}, text), make("td", {}, midi ?? ""))));
    const enabled = connectSetting("keyboard", true);
    const { keyHandler } = window.webkit.messageHandlers;
    const pressed = new Set();
    const release = (key) => {
        if (pressed.delete(key)) keyHandler.postMessage({ key, event: "keyup" });
    };
    window.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && !event.isComposing) {
            if (!event.repeat) actions.escape();
            return;
        }
        const action = enabled.checked ? actionOfKey(event, document.activeElement) : null;
        if (!action) return;
        event.preventDefault();
        if (event.repeat) return;
        if (action.action) return actions[action.action]();
        pressed.add(action.key);
        keyHandler.postMessage({ key: action.key, event: "keydown" });
    });
    window.addEventListener("keyup", (event) => release(event.key.toLowerCase()));
    // Keys that are released in another window send no event here.
    window.addEventListener("blur", () => [...pressed].forEach(release));
}
