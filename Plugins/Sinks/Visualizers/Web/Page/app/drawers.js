// Panels that open over the stage: one at a time, with the focus inside while open and back at the button afterwards.

import { element } from "./dom.js";

// The drawers and messages end above the controls, which stay reachable.
new ResizeObserver(() => document.body.style.setProperty("--controls", `${element("controls").offsetHeight}px`)).observe(element("controls"));

const drawers = new Map();
let open = null;

/** Registers a drawer: its button opens and closes it; `focus` returns the element that gets the focus. */
export function addDrawer(id, buttonID, focus, opened = () => {}) {
    drawers.set(id, { panel: element(id), button: element(buttonID), focus, opened });
    element(buttonID).addEventListener("click", () => (open === id ? closeDrawer() : openDrawer(id)));
    element(id).querySelector("[data-closes]").addEventListener("click", closeDrawer);
}

export function openDrawer(id) {
    if (open !== null) hide(open);
    const drawer = drawers.get(id);
    drawer.panel.hidden = false;
    drawer.button.setAttribute("aria-expanded", "true");
    open = id;
    drawer.opened();
    drawer.focus().focus();
}

/** Closes the open drawer. Returns whether one was open. */
export function closeDrawer() {
    if (open === null) return false;
    const { panel, button } = drawers.get(open);
    const hadFocus = panel.contains(document.activeElement) || document.activeElement === document.body;
    hide(open);
    open = null;
    if (hadFocus) button.focus();
    return true;
}

function hide(id) {
    const { panel, button } = drawers.get(id);
    panel.hidden = true;
    button.setAttribute("aria-expanded", "false");
}
