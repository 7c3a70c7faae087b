// The plain picture: bars of the spectrum under the waveform. The stage shows it where WebGL2 is missing or slow, and when a preset fails.

/// Draws on a 2D canvas. `willReadFrequently` makes the processor draw: four times as fast as a GPU that is computed by software.
export class PlainPicture {
    constructor(canvas, { transparent }) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d", { alpha: transparent, willReadFrequently: true });
        this.transparent = transparent;
        this.levels = new Float32Array(64);
    }

    render(frame) {
        const { context, canvas, levels } = this;
        if (!context) return;
        const { width, height } = canvas;
        if (this.transparent) {
            context.clearRect(0, 0, width, height);
        } else {
            const sky = context.createLinearGradient(0, 0, 0, height);
            sky.addColorStop(0, "#070b16");
            sky.addColorStop(1, "#0d1b2a");
            context.fillStyle = sky;
            context.fillRect(0, 0, width, height);
        }
        const share = 1 - Math.exp(-frame.dt / 0.12);
        const step = width / levels.length;
        for (let index = 0; index < levels.length; index += 1) {
            let level = 0;
            for (let bin = 0; bin < 4; bin += 1) level = Math.max(level, frame.spectrum[index * 4 + bin]);
            levels[index] += share * (level - levels[index]);
            const tall = height * (0.01 + 0.55 * levels[index]);
            context.fillStyle = `hsl(${205 - 175 * (index / levels.length)} 65% ${35 + 25 * levels[index]}%)`;
            context.fillRect(index * step + step * 0.15, height * 0.94 - tall, step * 0.7, tall);
        }
        context.beginPath();
        for (let index = 0; index < 512; index += 1) {
            const y = height * (0.24 - 0.16 * frame.waveform[index * 2]);
            if (index === 0) context.moveTo(0, y);
            else context.lineTo((index / 511) * width, y);
        }
        context.strokeStyle = "#d7e8f5";
        context.lineWidth = Math.max(1, height / 360);
        context.lineJoin = "round";
        context.stroke();
    }
}
