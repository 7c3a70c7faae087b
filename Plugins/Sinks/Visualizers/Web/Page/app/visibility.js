// Whether the controls and panels can be seen: they fade after 3 s without input, or are hidden until the user asks for them.

import { closeDrawer } from "./drawers.js";
import { element, onClick } from "./dom.js";
import { connectSetting } from "./settings.js";

const FADE_AFTER_MS = 3000;

export class Visibility {
    /** `bare`: nothing is ever shown. */
    constructor({ bare }) {
        this.bare = bare;
        this.isHidden = false;
        this.timer = 0;
        this.parts = [element("top"), element("dock")];
        // Also the input on parts that are no controls, such as the picture. A key alone shows nothing: it may be a note.
        for (const type of ["pointermove", "pointerdown", "wheel", "focusin"]) {
            window.addEventListener(type, () => this.used(), { passive: true });
        }
        window.addEventListener("keydown", () => !this.isFaded && this.used());
        this.keepsShown = connectSetting("keep-shown", false, () => this.used());
        onClick("hide", () => this.hide());
        onClick("show-controls", () => {
            this.show();
            element("hide").focus();
        });
        if (bare) this.hide();
    }

    get isFaded() {
        return document.documentElement.classList.contains("faded");
    }

    /** Whether the panels have to be drawn. */
    get isVisible() {
        return !this.isHidden && !this.isFaded;
    }

    /** Hides controls and panels until `show`. */
    hide() {
        closeDrawer();
        this.setHidden(true);
        // The next Tab key reaches the button that shows the controls again.
        element("main").focus();
    }

    show() {
        if (this.bare) return;
        this.setHidden(false);
        this.used();
    }

    setHidden(isHidden) {
        this.isHidden = isHidden;
        for (const part of this.parts) part.hidden = isHidden;
        element("show-controls").hidden = !isHidden || this.bare;
    }

    /** There was input: nothing is faded for the next seconds. */
    used() {
        document.documentElement.classList.remove("faded");
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.fade(), FADE_AFTER_MS);
    }

    fade() {
        // What the user reads or has reached with the keyboard stays.
        const isUsed = document.querySelector(".drawer:not([hidden]), .top :focus-visible, .dock :focus-visible");
        if (isUsed && !this.bare) this.timer = setTimeout(() => this.fade(), FADE_AFTER_MS);
        else if (!this.keepsShown?.checked) document.documentElement.classList.add("faded");
    }
}
