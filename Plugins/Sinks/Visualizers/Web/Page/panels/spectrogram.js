// Spectrogram: one column per 1024 frames, newest at the right. With reduced motion the picture does not scroll: the columns are
// replaced from left to right, and the picture changes once per second.

import { colourMap, FREQUENCY_LABELS, positionOfFrequency } from "../analysis/scale.js";
import { plotArea, Surface, theme } from "./surface.js";

const ROWS = 256;
const COLUMN_FRAMES = 1024;
const BOTTOM_DB = -80;
const RANGE_DB = 68;
const SLOW_INTERVAL_S = 1;

class SpectrogramDisplay extends Surface {
    constructor(body, source) {
        super(body, "", "Spectrogram from 30 Hz to 16 kHz, the last seconds", source);
        this.image = document.createElement("canvas");
        this.column = new ImageData(1, ROWS);
        this.map = null;
        this.next = 0;
        this.wait = 0;
        this.levels = null;
    }

    layout(context) {
        const plot = (this.plot = plotArea(this));
        this.map = colourMap(theme.dark);
        this.isComplete = false;
        const columns = Math.max(8, Math.round(plot.width));
        if (!this.levels || this.columns !== columns) {
            this.columns = columns;
            this.levels = new Uint8Array(columns * ROWS);
            this.next = 0;
        }
        this.image.width = columns;
        this.image.height = ROWS;
        this.imageContext = this.image.getContext("2d", { willReadFrequently: true });
        for (let column = 0; column < columns; column++) this.writeColumn(column);
        context.fillStyle = theme.secondary;
        context.strokeStyle = theme.grid;
        context.textAlign = "right";
        context.textBaseline = "middle";
        const every = plot.height / FREQUENCY_LABELS.length < 15 ? 2 : 1;
        FREQUENCY_LABELS.forEach(([hertz, label], index) => {
            if ((FREQUENCY_LABELS.length - 1 - index) % every !== 0) return;
            context.fillText(label, plot.x - 5, Math.max(7, plot.y + plot.height * (1 - positionOfFrequency(hertz))));
        });
        context.textBaseline = "alphabetic";
        this.axisRate = 0;
    }

    /** Labels of the time axis, which need the sample rate. */
    drawTimeAxis(rate, slow) {
        const context = this.background.getContext("2d");
        const { plot } = this;
        const columnsPerSecond = rate / COLUMN_FRAMES;
        context.clearRect(0, plot.y + plot.height + 1, this.width, this.height);
        context.fillStyle = theme.secondary;
        if (slow) return;
        for (let seconds = 0; seconds * columnsPerSecond < plot.width - 12; seconds += 2) {
            const x = plot.x + plot.width - seconds * columnsPerSecond;
            context.textAlign = seconds === 0 ? "right" : "center";
            context.fillText(seconds === 0 ? "now" : `−${seconds} s`, seconds === 0 ? x + 4 : x, this.height - 5);
        }
    }

    /** Adds a column with 256 levels in dBFS. Also while the panel is hidden. */
    add(decibels) {
        if (!this.levels) return;
        const start = this.next * ROWS;
        for (let row = 0; row < ROWS; row++) {
            this.levels[start + row] = Math.min(255, Math.max(0, ((decibels[row] - BOTTOM_DB) * 255) / RANGE_DB));
        }
        this.writeColumn(this.next);
        this.next = (this.next + 1) % this.columns;
    }

    writeColumn(column) {
        const { data } = this.column;
        const start = column * ROWS;
        for (let row = 0; row < ROWS; row++) {
            const colour = 4 * this.levels[start + row];
            const pixel = 4 * (ROWS - 1 - row);
            data[pixel] = this.map[colour];
            data[pixel + 1] = this.map[colour + 1];
            data[pixel + 2] = this.map[colour + 2];
            data[pixel + 3] = 255;
        }
        this.imageContext.putImageData(this.column, column, 0);
    }

    paint(context, frame) {
        const { analysis: { sampleRate }, isSlow } = this.source;
        if (this.axisRate !== sampleRate) {
            this.axisRate = sampleRate;
            this.isComplete = false;
            this.drawTimeAxis(sampleRate, isSlow);
        }
        this.wait += frame.dt;
        if (isSlow && this.isComplete && this.wait < SLOW_INTERVAL_S) return;
        this.wait = 0;
        this.isComplete = true;
        this.clear(context);
        const { plot, image, next, columns } = this;
        context.imageSmoothingEnabled = true;
        if (isSlow) {
            context.drawImage(image, plot.x, plot.y, plot.width, plot.height);
            context.fillStyle = theme.text;
            context.fillRect(plot.x + (next * plot.width) / columns, plot.y, 1, plot.height);
            return;
        }
        const share = ((columns - next) * plot.width) / columns;
        if (next < columns) context.drawImage(image, next, 0, columns - next, ROWS, plot.x, plot.y, share, plot.height);
        if (next > 0) context.drawImage(image, 0, 0, next, ROWS, plot.x + share, plot.y, plot.width - share, plot.height);
    }
}

export default {
    id: "spectrogram",
    title: "Spectrogram",
    unit: "Hz",
    grow: 1.4,
    needs: [],
    create(body, unit, source) {
        const display = new SpectrogramDisplay(body, source);
        source.analysis.onColumn = (decibels) => display.add(decibels);
        return display;
    },
};
