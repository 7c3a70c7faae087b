// Waveform of both channels. The picture begins at a rising zero crossing, so that periodic sound stands still.

import { Surface, theme } from "./surface.js";

const LEFT = 22;
const RIGHT = 8;
const SHOWN = 768;

class WaveformDisplay extends Surface {
    layout(context) {
        this.lines = [];
        const height = (this.height - 6) / 2;
        context.fillStyle = theme.secondary;
        context.strokeStyle = theme.grid;
        context.textBaseline = "middle";
        ["L", "R"].forEach((label, index) => {
            const centre = Math.round(height * (index + 0.5) + index * 6) + 0.5;
            this.lines.push({ centre, half: height / 2 - 2 });
            context.fillText(label, 8, centre);
            context.beginPath();
            for (const y of [centre, centre - height / 2 + 1, centre + height / 2 - 2]) {
                context.moveTo(LEFT, Math.round(y) + 0.5);
                context.lineTo(this.width - RIGHT, Math.round(y) + 0.5);
            }
            context.stroke();
        });
    }

    paint(context, frame) {
        this.clear(context);
        const start = zeroCrossing(frame.waveform, frame.waveform.length - SHOWN);
        this.trace(context, frame.left, start, this.lines[0]);
        this.trace(context, frame.right, start, this.lines[1]);
    }

    trace(context, samples, start, { centre, half }) {
        const width = this.width - LEFT - RIGHT;
        context.beginPath();
        for (let i = 0; i < SHOWN; i++) {
            const value = Math.min(1, Math.max(-1, samples[start + i]));
            context.lineTo(LEFT + (i * width) / (SHOWN - 1), centre - value * half);
        }
        context.strokeStyle = theme.data;
        context.lineWidth = 1.25;
        context.lineJoin = "round";
        context.stroke();
    }
}

/** Index of the rising zero crossing with the steepest rise below `limit`, or 0. */
function zeroCrossing(samples, limit) {
    let best = 0;
    let rise = 0;
    for (let i = 1; i < limit; i++) {
        if (samples[i - 1] < 0 && samples[i] >= 0) {
            const difference = samples[Math.min(samples.length - 1, i + 4)] - samples[Math.max(0, i - 4)];
            if (difference > rise) {
                rise = difference;
                best = i;
            }
        }
    }
    return best;
}

export default {
    id: "waveform",
    title: "Waveform",
    unit: "17 ms",
    grow: 0.9,
    needs: [],
    create: (body, unit, source) => new WaveformDisplay(body, "", "Waveform of the left and the right channel, 17 milliseconds", source),
};
