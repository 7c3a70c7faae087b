// Spectrum: bars over a logarithmic frequency axis, with a level axis and peak hold.

import { FREQUENCY_LABELS, MAX_DB, MIN_DB, positionOfFrequency, positionOfLevel } from "../analysis/scale.js";
import { plotArea, Surface, theme } from "./surface.js";

const BAR_WIDTH = 5;
const LEVELS = [-72, -60, -48, -36, -24, -12, 0];

class SpectrumDisplay extends Surface {
    layout(context) {
        const plot = (this.plot = plotArea(this));
        this.bars = Math.max(16, Math.min(160, Math.floor(plot.width / BAR_WIDTH)));
        context.strokeStyle = theme.grid;
        context.fillStyle = theme.secondary;
        context.lineWidth = 1;
        context.textBaseline = "middle";
        context.textAlign = "right";
        const spacing = plot.height / LEVELS.length;
        LEVELS.forEach((level, index) => {
            // Labels need 15 px each.
            const labelled = spacing >= 15 || (LEVELS.length - 1 - index) % 2 === 0;
            const y = Math.round(plot.y + plot.height * (1 - positionOfLevel(level))) + 0.5;
            context.beginPath();
            context.moveTo(plot.x, y);
            context.lineTo(plot.x + plot.width, y);
            context.stroke();
            if (labelled) context.fillText(level === 0 ? "0 dB" : `−${-level}`, plot.x - 5, Math.max(y, 7));
        });
        context.textBaseline = "alphabetic";
        context.textAlign = "center";
        const every = plot.width / FREQUENCY_LABELS.length < 27 ? 2 : 1;
        FREQUENCY_LABELS.forEach(([hertz, label], index) => {
            const x = Math.round(plot.x + plot.width * positionOfFrequency(hertz)) + 0.5;
            context.beginPath();
            context.moveTo(x, plot.y);
            context.lineTo(x, plot.y + plot.height + 3);
            context.stroke();
            if (index % every === 1 % every) context.fillText(label, Math.min(x, this.width - 9), this.height - 5);
        });
        this.fill = context.createLinearGradient(0, plot.y, 0, plot.y + plot.height);
        this.fill.addColorStop(0, theme.beat);
        this.fill.addColorStop(0.35, theme.data);
        this.fill.addColorStop(1, theme["data-soft"]);
    }

    paint(context) {
        const { smoothed, peaks } = this.source.analysis;
        this.clear(context);
        const { plot, bars } = this;
        const step = plot.width / bars;
        const points = smoothed.length;
        const bottom = plot.y + plot.height;
        context.fillStyle = this.fill;
        for (let bar = 0; bar < bars; bar++) {
            const height = plot.height * positionOfLevel(maximum(smoothed, bar, bars, points));
            if (height > 0) context.fillRect(plot.x + bar * step + 0.5, bottom - height, step - 1, height);
        }
        context.fillStyle = theme.text;
        context.globalAlpha = 0.55;
        for (let bar = 0; bar < bars; bar++) {
            const level = maximum(peaks, bar, bars, points);
            if (level > MIN_DB + 1 && level <= MAX_DB + 6) {
                context.fillRect(plot.x + bar * step + 0.5, bottom - plot.height * positionOfLevel(level) - 1, step - 1, 1);
            }
        }
        context.globalAlpha = 1;
    }
}

/** Maximum of the points that one of `bars` bars covers. */
function maximum(values, bar, bars, points) {
    const first = Math.floor((bar * points) / bars);
    const end = Math.max(first + 1, Math.floor(((bar + 1) * points) / bars));
    let result = -Infinity;
    for (let i = first; i < end; i++) if (values[i] > result) result = values[i];
    return result;
}

export default {
    id: "spectrum",
    title: "Spectrum",
    unit: "Hz, dBFS",
    grow: 1.65,
    narrow: true,
    needs: [],
    create: (body, unit, source) => new SpectrumDisplay(body, "", "Spectrum from 30 Hz to 16 kHz, 0 to −84 dBFS", source),
};
