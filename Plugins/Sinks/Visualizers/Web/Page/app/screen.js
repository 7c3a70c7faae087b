// The screen: full screen, and no screen saver while music plays.

import { element } from "./dom.js";

/** Changes between full screen and the window, also in a window of Hemiola. */
export function toggleFullScreen() {
    if (window.hemiolaWindow) return void window.hemiolaWindow.request("fullscreen", null);
    const change = document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen();
    // The browser may refuse: the page stays as it is.
    change.catch(() => {});
}

/** Phones of one maker have no full screen for pages. */
export function connectFullScreen() {
    const button = element("full-screen");
    button.hidden = !document.fullscreenEnabled && !window.hemiolaWindow;
    button.addEventListener("click", toggleFullScreen);
    document.addEventListener("fullscreenchange", () => button.setAttribute("aria-pressed", String(document.fullscreenElement !== null)));
}

/** Keeps the screen on while it is wanted. Browsers grant that to pages of https and of 127.0.0.1. */
export class WakeLock {
    #isWanted = false;
    #lock = null;
    #applied = Promise.resolve();

    constructor() {
        // A page that is hidden loses the lock.
        document.addEventListener("visibilitychange", () => this.#applyNext());
    }

    set(isWanted) {
        if (isWanted === this.#isWanted) return;
        this.#isWanted = isWanted;
        this.#applyNext();
    }

    /** One change after the other: a lock that is granted when it is no longer wanted is then released. */
    #applyNext() {
        this.#applied = this.#applied.then(() => this.#apply());
    }

    async #apply() {
        if (!this.#isWanted) {
            this.#lock?.release();
            this.#lock = null;
        } else if (!document.hidden && (this.#lock === null || this.#lock.released)) {
            // It may be refused, for example with a battery that is nearly empty.
            this.#lock = (await navigator["wakeLock"]?.request("screen").catch(() => null)) ?? null;
        }
    }
}
