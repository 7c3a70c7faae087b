// The keyboard: which key plays a note, and which one is a shortcut.

/** Keys in the order of the MIDI notes 60 to 75. */
export const NOTE_KEYS = "awsedftgyhujkolp";

/** Shortcuts: key → action of the app. Letters that play notes are not used. */
const SHORTCUTS = {
    ArrowLeft: "previous",
    ArrowRight: "next",
    r: "random",
    c: "cycle",
    b: "tap",
    m: "favourite",
    v: "hide",
    "/": "search",
};

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
    const action = SHORTCUTS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    return action ? { action } : null;
}
