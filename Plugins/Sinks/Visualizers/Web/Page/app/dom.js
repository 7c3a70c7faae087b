// Access to the page's elements.

/** @returns {any} The element with this id. */
export const element = (id) => document.getElementById(id);

/** The bytes of a text in base64. */
export const decodeBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/**
 * A new element with attributes and content.
 *
 * @returns {any}
 */
export function make(name, attributes = {}, ...content) {
    const result = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) result.setAttribute(key, value);
    result.append(...content);
    return result;
}

/** Sets a text only if it differs: an unchanged text costs nothing. */
export function setText(target, text) {
    if (target.textContent !== text) target.textContent = text;
}

/** Runs `action` when the element is activated. */
export function onClick(id, action) {
    element(id).addEventListener("click", action);
}

/** Fills the part of a range input's track left of the thumb, which Chromium does not style. */
export function showRangeFill(input) {
    const share = (100 * (input.value - input.min)) / (input.max - input.min);
    input.style.setProperty("--track-fill", `linear-gradient(to right, var(--data) ${share}%, var(--track) ${share}%)`);
}

/** Announces text to screen readers. The same text is announced once until another one follows. */
export function announce(text) {
    setText(element("announcer"), text);
}

let messageTimer = 0;

/** Shows a message for some seconds, and announces it. */
export function showMessage(text) {
    const message = element("message");
    setText(message, text);
    message.hidden = false;
    announce(text);
    clearTimeout(messageTimer);
    messageTimer = setTimeout(() => {
        message.hidden = true;
        announce("");
    }, 5000);
}

/** The text that this browser stores under a name; null: none, or storage is disabled. */
export function stored(name) {
    try {
        return localStorage.getItem(name);
    } catch {
        return null;
    }
}

/** Stores a text under a name. */
export function store(name, text) {
    try {
        localStorage.setItem(name, text);
    } catch {
        // Full or disabled storage: the value lasts for this page view.
    }
}
