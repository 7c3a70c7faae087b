// The list of presets with search and favourites: a combobox whose list of options is always visible. Of thousands, only the first are
// elements, and more when the list is scrolled.

import { announce, element, make, setText } from "./dom.js";
import { searchNames } from "./search.js";

const ELEMENTS = 200;

export class PresetList {
    /** The list of the stage's presets. `load(name)`: the user has chosen a preset; `toggle(name)`: has marked or unmarked it. */
    constructor(stage, { load, toggle }) {
        this.stage = stage;
        this.favourites = new Set();
        this.load = load;
        this.toggle = toggle;
        this.input = element("search");
        this.options = element("preset-options");
        this.onlyFavourites = element("favourites-only");
        this.shown = [];
        this.active = -1;
        this.input.addEventListener("input", () => this.refresh());
        this.onlyFavourites.addEventListener("change", () => this.refresh());
        this.input.addEventListener("keydown", (event) => this.keydown(event));
        this.options.addEventListener("click", (event) => this.click(event));
        this.options.addEventListener("scroll", () => {
            const { scrollTop, clientHeight, scrollHeight } = this.options;
            if (scrollTop + 2 * clientHeight > scrollHeight) this.addElements(this.options.children.length + ELEMENTS);
        });
        // The focus stays in the search field.
        this.options.addEventListener("mousedown", (event) => event.preventDefault());
        this.refresh();
    }

    /** Marks the preset that the stage shows now. */
    markCurrent() {
        const { current } = this.stage;
        for (const option of this.options.children) option.setAttribute("aria-selected", String(option.dataset.name === current));
    }

    /** Shows the presets that match the search. */
    refresh() {
        const { presets } = this.stage;
        const matches = searchNames(presets.map((preset) => preset.name), this.input.value).map((index) => presets[index]);
        this.shown = this.onlyFavourites.checked ? matches.filter((preset) => this.favourites.has(preset.name)) : matches;
        this.options.replaceChildren();
        this.addElements(ELEMENTS);
        this.activate(this.input.value !== "" && this.shown.length > 0 ? 0 : -1);
        const count = this.shown.length;
        const text = count === 0 ? this.emptyText : count === 1 ? "1 preset" : `${count} presets`;
        if (text === element("preset-count").textContent) return;
        setText(element("preset-count"), text);
        clearTimeout(this.countTimer);
        // Not each letter of a search is announced.
        if (this.options.checkVisibility()) this.countTimer = setTimeout(() => announce(text), 400);
    }

    /** Why the list is empty. */
    get emptyText() {
        const search = this.input.value.trim();
        const kind = this.onlyFavourites.checked ? "favourite" : "preset";
        return search ? `No ${kind} matches “${search}”` : `There is no ${kind} yet`;
    }

    /** Makes the elements before the one at `end`. */
    addElements(end) {
        const start = this.options.children.length;
        this.options.append(...this.shown.slice(start, end).map((preset, index) => this.makeOption(preset, start + index)));
    }

    makeOption(preset, index) {
        const text = make("span", { class: "option-text" },
            make("span", { class: "option-name" }, preset.name),
            make("span", { class: "option-description" }, preset.description));
        const mark = make("span", { class: "visually-hidden" });
        const icon = element("favourite").querySelector("svg").cloneNode(true);
        const star = make("span", { class: "option-star", "aria-hidden": "true" }, icon);
        const option = make("div", {
            id: `preset-option-${index}`, class: "option", role: "option", "data-name": preset.name, "aria-posinset": index + 1,
            "aria-setsize": this.shown.length, "aria-selected": preset.name === this.stage.current,
        }, text, mark, star);
        this.showMark(option);
        return option;
    }

    showMark(option) {
        const isFavourite = this.favourites.has(option.dataset.name);
        option.dataset.favourite = String(isFavourite);
        option.querySelector(".visually-hidden").textContent = isFavourite ? "Favourite" : "";
    }

    setFavourites(names) {
        this.favourites = new Set(names);
        if (this.onlyFavourites.checked) return this.refresh();
        for (const option of this.options.children) this.showMark(option);
    }

    activate(index) {
        this.addElements(index + 1);
        this.options.children[this.active]?.classList.remove("active");
        this.active = index;
        const option = this.options.children[index];
        if (option) {
            option.classList.add("active");
            option.scrollIntoView({ block: "nearest" });
            this.input.setAttribute("aria-activedescendant", option.id);
        } else {
            this.input.removeAttribute("aria-activedescendant");
        }
    }

    keydown(event) {
        const count = this.shown.length;
        if (event.isComposing || count === 0) return;
        const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
        if (event.key in steps) {
            const step = steps[event.key];
            const start = this.active < 0 ? this.shown.findIndex((preset) => preset.name === this.stage.current) : this.active;
            const target = Math.abs(step) === 1 ? (start + step + count) % count : Math.min(count - 1, Math.max(0, start + step));
            this.activate(start < 0 && step < 0 ? count - 1 : target);
        } else if (event.key === "Enter" && this.active >= 0) {
            const { name } = this.shown[this.active];
            if (event.ctrlKey || event.metaKey) this.toggle(name);
            else this.load(name);
        } else {
            return;
        }
        event.preventDefault();
    }

    click(event) {
        const option = event.target.closest(".option");
        if (!option) return;
        const { name } = option.dataset;
        if (event.target.closest(".option-star")) this.toggle(name);
        else this.load(name);
    }
}
