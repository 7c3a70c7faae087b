// Draws a plain waveform with the functions of Butterchurn that the page uses, if the library is not installed.

if (!window.butterchurn || !window.butterchurnPresets) {
    window.butterchurnPresets = { getPresets: () => ({ "Plain waveform": { hue: 190 }, "Plain waveform, warm": { hue: 30 } }) };
    window.butterchurn = {
        createVisualizer(audioContext, canvas) {
            const context = canvas.getContext("2d");
            let hue = 0;
            return {
                loadPreset(preset) {
                    hue = preset.hue;
                },
                setRendererSize() {},
                render({ audioLevels }) {
                    const { width, height } = canvas;
                    context.fillStyle = "rgb(0 0 0 / 0.15)";
                    context.fillRect(0, 0, width, height);
                    context.strokeStyle = `hsl(${hue} 80% 60%)`;
                    context.lineWidth = 2;
                    context.beginPath();
                    audioLevels.timeByteArray.forEach((value, i) => context.lineTo((i * width) / 1023, (height * value) / 256));
                    context.stroke();
                },
            };
        },
    };
    addEventListener("DOMContentLoaded", () => (document.getElementById("note").hidden = false));
}
