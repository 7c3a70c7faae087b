// Rhythm: a dial with the beats of the bar and, where the run has them, the drums; and the meters for bass, mid and treble.

import { VOICES } from "../analysis/drums.js";
import { setText } from "../app/dom.js";
import { Surface, theme } from "./surface.js";

const TURN = 2 * Math.PI;

class BeatDial extends Surface {
    layout(context) {
        this.radius = Math.min(this.width, this.height) / 2 - 5;
        // Large digits in the page's font.
        this.font = theme.font.replace("11px", `600 ${Math.round(this.radius * 0.62)}px`);
    }

    paint(context, frame) {
        const { isSlow: slow } = this.source;
        this.clear(context);
        const { radius } = this;
        const { beat } = frame;
        const x = this.width / 2;
        const y = this.height / 2;
        const gap = 0.07;
        const active = beat.bpm !== null;
        // Without a position in the bar, the ring is one beat.
        const segments = active && beat.bar === null ? 1 : beat.beatsPerBar;
        const segment = TURN / segments;
        // A slow display shows the beat without a flash.
        const pulse = slow ? 0 : beat.pulse;
        context.lineWidth = Math.max(5, radius * 0.13);
        context.lineCap = "butt";
        for (let i = 0; i < segments; i++) {
            const start = -TURN / 4 + i * segment + gap / 2;
            const current = active && (beat.bar === null || beat.bar === i + 1);
            this.arc(context, x, y, radius, start, start + segment - gap, theme.track, 1);
            if (current) {
                this.arc(context, x, y, radius, start, start + segment - gap, theme.beat, 0.4 + 0.6 * (slow ? 1 : pulse));
            } else if (active && beat.bar !== null && i + 1 < beat.bar) {
                this.arc(context, x, y, radius, start, start + segment - gap, theme["beat-soft"], 1);
            }
        }
        if (active) {
            const position = ((beat.bar ?? 1) - 1 + (slow ? 0 : beat.phase)) / segments;
            const angle = -TURN / 4 + TURN * position;
            context.fillStyle = theme.text;
            context.beginPath();
            context.arc(x + Math.cos(angle) * radius * 0.78, y + Math.sin(angle) * radius * 0.78, Math.max(1.5, radius * 0.045), 0, TURN);
            context.fill();
        }
        context.font = this.font;
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.fillStyle = theme.secondary;
        if (active && pulse > 0.35) context.fillStyle = theme.beat;
        else if (active) context.fillStyle = theme.text;
        context.fillText(active ? String(beat.bar ?? "•") : "–", x, y + radius * 0.04);
        if (!frame.drums || slow) return;
        // Kick, snare and hi-hat, from left to right.
        VOICES.forEach((voice, index) => {
            context.beginPath();
            context.arc(x + (index - 1) * radius * 0.26, y - radius * 0.5, radius * 0.07, 0, TURN);
            context.fillStyle = theme.track;
            context.fill();
            context.globalAlpha = frame.drums[voice];
            context.fillStyle = theme.beat;
            context.fill();
            context.globalAlpha = 1;
        });
    }

    arc(context, x, y, radius, start, end, colour, alpha) {
        context.globalAlpha = alpha;
        context.strokeStyle = colour;
        context.beginPath();
        context.arc(x, y, radius, start, end);
        context.stroke();
        context.globalAlpha = 1;
    }
}

const BANDS = [["bass", "Bass"], ["mid", "Mid"], ["treb", "Treble"]];
const MAXIMUM = 2.5;

class BandMeters extends Surface {
    layout(context) {
        this.rows = [];
        const label = 46;
        const height = this.height / 3;
        context.fillStyle = theme.secondary;
        context.textBaseline = "middle";
        BANDS.forEach(([name, text], index) => {
            const y = height * (index + 0.5);
            context.fillText(text, 0, y + 0.5);
            const row = { fast: name, slow: `${name}_att`, x: label, y: Math.round(y - 3), width: this.width - label, height: 6 };
            this.rows.push(row);
            context.fillStyle = theme.track;
            context.beginPath();
            context.roundRect(row.x, row.y, row.width, row.height, 3);
            context.fill();
            context.fillStyle = theme.secondary;
            // The average level.
            context.fillRect(row.x + row.width / MAXIMUM, row.y - 3, 1, row.height + 6);
        });
    }

    paint(context, frame) {
        const { isSlow: slow } = this.source;
        this.clear(context);
        for (const row of this.rows) {
            const value = frame.bands[slow ? row.slow : row.fast];
            const held = frame.bands[row.slow];
            const width = row.width * Math.min(1, value / MAXIMUM);
            context.fillStyle = theme.data;
            if (width > 1) {
                context.beginPath();
                context.roundRect(row.x, row.y, width, row.height, 3);
                context.fill();
            }
            context.fillStyle = theme.text;
            if (held > 0.02) context.fillRect(row.x + row.width * Math.min(1, held / MAXIMUM) - 1, row.y - 1, 2, row.height + 2);
        }
    }
}

export default {
    id: "rhythm",
    title: "Rhythm",
    narrow: true,
    needs: [],
    create(body, unit, source) {
        const dial = new BeatDial(body, "dial", "Beats of the bar", source);
        const meters = new BandMeters(body, "bands", "Bass, mid and treble relative to their average", source);
        return {
            draw(frame) {
                dial.draw(frame);
                meters.draw(frame);
                const { bpm, confidence } = frame.beat;
                setText(unit, bpm === null ? "No beat" : `Confidence ${Math.round(20 * confidence) * 5} %`);
            },
        };
    },
};
