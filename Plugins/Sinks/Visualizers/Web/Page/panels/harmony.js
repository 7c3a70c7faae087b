// Harmony: a ring with the strength of each pitch class, C at the top, and the key, chord and note beside it.

import { make, setText } from "../app/dom.js";
import { Harmony, HARMONY_PLUGINS, noteName, noteNames } from "../analysis/harmony.js";
import { Surface, theme } from "./surface.js";

const TURN = 2 * Math.PI;
const INNER = 0.3;
const OUTER = 0.78;

class ChromaRing extends Surface {
    constructor(body, source, harmony) {
        super(body, "ring", "Strength of the pitch classes from C to B", source);
        this.canvas.id = "chroma";
        this.harmony = harmony;
    }

    layout() {
        this.radius = Math.min(this.width, this.height) / 2 - 1;
        // Names need 20 px each along the ring; below that, those of whole tones and of the octave's quarters.
        const spacing = (TURN * this.radius * 0.9) / 12;
        this.step = spacing >= 20 ? 1 : spacing >= 12 ? 2 : 3;
    }

    paint(context) {
        this.clear(context);
        const { harmony, radius } = this;
        const x = this.width / 2;
        const y = this.height / 2;
        const bins = harmony.chroma.length;
        const count = bins || 12;
        const gap = 0.5 / (radius * INNER);
        for (let i = 0; i < count; i++) {
            const middle = TURN * (i / count - 0.25);
            const half = Math.max(0.01, TURN / count / 2 - gap);
            sector(context, x, y, radius, INNER, OUTER, middle - half, middle + half);
            context.fillStyle = theme.track;
            context.fill();
            const value = bins ? harmony.chroma[i] : 0;
            if (value > 0.01) {
                sector(context, x, y, radius, INNER, INNER + (OUTER - INNER) * value, middle - half, middle + half);
                context.fillStyle = theme.data;
                context.fill();
            }
        }
        context.font = theme.font;
        context.textAlign = "center";
        context.textBaseline = "middle";
        for (let i = 0; i < 12; i += this.step) {
            const angle = TURN * (i / 12 - 0.25);
            context.fillStyle = i === harmony.tonic ? theme.beat : theme.secondary;
            context.fillText(noteNames[i], x + Math.cos(angle) * radius * 0.9, y + Math.sin(angle) * radius * 0.9 + 0.5);
        }
    }
}

/** Adds a part of a ring to a new path; radii are shares of `radius`. */
function sector(context, x, y, radius, inner, outer, start, end) {
    context.beginPath();
    context.arc(x, y, radius * outer, start, end);
    context.arc(x, y, radius * inner, end, start, true);
    context.closePath();
}

function noteText({ frequency }) {
    const note = noteName(frequency);
    return note && `${note} · ${Math.round(frequency)} Hz`;
}

/** The texts beside the ring. A row is shown only if its analyzer is declared. */
const ROWS = [
    { id: "key", title: "Key", plugin: "musical-key", value: (harmony) => harmony.key },
    { id: "chord", title: "Chord", plugin: "chords", value: (harmony) => harmony.chord },
    { id: "note", title: "Note", plugin: "pitch", value: noteText },
];

export default {
    id: "harmony",
    title: "Harmony",
    narrow: true,
    needs: HARMONY_PLUGINS,
    create(body, unit, source) {
        const harmony = new Harmony();
        source.hemiola.addEventListener("hello", ({ detail }) => harmony.reset(detail));
        source.hemiola.addEventListener("batch", ({ detail }) => harmony.add(detail));
        const ring = new ChromaRing(body, source, harmony);
        const rows = ROWS.map(({ id, title, plugin, value }) => {
            const text = make("dd", { id }, "–");
            return { row: make("div", { id: `${id}-row` }, make("dt", {}, title), text), text, plugin, value };
        });
        body.append(make("dl", { class: "harmony-texts" }, ...rows.map(({ row }) => row)));
        return {
            draw(frame) {
                harmony.update(frame.time, frame.dt, source.isSlow);
                ring.canvas.hidden = harmony.chroma.length === 0;
                ring.draw(frame);
                for (const { row, text, plugin, value } of rows) {
                    row.hidden = !harmony.has(plugin);
                    setText(text, value(harmony) ?? "–");
                }
            },
        };
    },
};
