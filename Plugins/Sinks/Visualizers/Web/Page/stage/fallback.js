// What the stage shows when a preset fails, and where WebGL2 is missing: bars of the spectrum under the waveform.

/// The preset that replaces a preset that failed.
export const plainPreset = {
    name: "Plain",
    description: "Spectrum bars and waveform; shown when another preset fails",
    create(gl, { graphics }) {
        const program = graphics.program(`
uniform sampler2D uColors;
void main() {
  float column = floor(vUV.x * 48.0);
  float level = spectrumAt((column + 0.5) / 48.0);
  float inside = step(abs(fract(vUV.x * 48.0) - 0.5), 0.36) * step(vUV.y, 0.03 + 0.6 * level);
  vec3 light = texture(uColors, vec2(column / 48.0, 0.5)).rgb * inside * (0.25 + 0.75 * vUV.y / (0.03 + 0.6 * level));
  float wave = 0.78 + 0.16 * dot(waveAt(vUV.x), vec2(0.5));
  light += vec3(0.8, 0.9, 1.0) * smoothstep(2.5 / uSize.y, 0.0, abs(vUV.y - wave)) * 0.6;
  color = vec4(light, 0.0);
}`);
        const colors = graphics.gradient([["#1b6ca8", "#35b6a5", "#f2c14e", "#e4572e"]]);
        return {
            render(frame, target) { graphics.draw(program, target, { uColors: colors }); },
        };
    },
};

/// Draws on a 2D canvas, for browsers without WebGL2 and where it is slow. `willReadFrequently` makes the processor draw: four times as fast as a
/// GPU that is computed by software.
export class CanvasFallback {
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
