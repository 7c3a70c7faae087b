// A stand-in for Butterchurn with its interface: no registry of the tests has the real one. Fills the canvas with the colour of a preset, and
// runs its code for each picture, as Butterchurn runs the equations of its presets.
!(function (root, factory) {
    if (typeof exports === "object" && typeof module === "object") module.exports = factory();
    else root.butterchurn = factory();
})(window, () => ({
    default: class {
        static createVisualizer(context, canvas, { width, height }) {
            if (!(context.sampleRate > 0) || !(width > 0) || !(height > 0)) throw new Error("createVisualizer");
            const drawing = canvas.getContext("2d");
            let from = null;
            let to = null;
            let progress = 1;
            let blend = 0;
            return {
                loadExtraImages() {},
                connectAudio() {},
                setRendererSize() {},
                loadPreset(preset, blendSeconds) {
                    const run = new Function("a", preset.frame_eqs_str ?? "");
                    [from, to, progress, blend] = [to, { ...preset.baseVals, run }, 0, blendSeconds];
                },
                render({ elapsedTime, audioLevels }) {
                    if (audioLevels.timeByteArray.length !== 1024) throw new Error("audioLevels");
                    progress = from && blend > 0 ? Math.min(1, progress + elapsedTime / blend) : 1;
                    // Code sets `a.colour`.
                    to.run(to);
                    drawing.fillStyle = progress < 1 ? from.colour : to.colour;
                    drawing.fillRect(0, 0, canvas.width, canvas.height);
                    drawing.globalAlpha = progress;
                    drawing.fillStyle = to.colour;
                    drawing.fillRect(0, 0, canvas.width, canvas.height);
                    drawing.globalAlpha = 1;
                },
            };
        }
    },
}));
