// Connects Butterchurn with a program that calls the functions of a page, such as Hemiola.

const library = window.butterchurn.default ?? window.butterchurn;
const presets = (window.butterchurnPresets.default ?? window.butterchurnPresets).getPresets();
const canvas = document.getElementById("canvas");
const visualizer = library.createVisualizer(null, canvas, { width: innerWidth, height: innerHeight });
const audioLevels = { timeByteArray: silence(), timeByteArrayL: silence(), timeByteArrayR: silence() };
let current = Object.keys(presets)[0];
let speed = 1;

// Butterchurn reads 8-bit samples, in which 128 is silence. No AudioContext is needed.
function silence() {
    return new Uint8ClampedArray(1024).fill(128);
}

function pushSamples(samples) {
    for (let i = 0; i < 1024; i++) {
        audioLevels.timeByteArrayL[i] = 128 + 127 * samples[2 * i];
        audioLevels.timeByteArrayR[i] = 128 + 127 * samples[2 * i + 1];
        audioLevels.timeByteArray[i] = 128 + 63.5 * (samples[2 * i] + samples[2 * i + 1]);
    }
}
const getPresetNames = () => Object.keys(presets);
const getCurrentPreset = () => current;
function loadPresetByName(name, blendSeconds = 2.7) {
    if (!(name in presets)) throw new Error(`no preset ${name}`);
    current = name;
    return visualizer.loadPreset(presets[name], blendSeconds);
}
const setSpeed = (newSpeed) => (speed = newSpeed);
Object.assign(window, { pushSamples, getPresetNames, getCurrentPreset, loadPresetByName, setSpeed });

// The picture. `elapsedTime` in seconds is the time that the preset advances.
let last = performance.now();
function animate(now) {
    requestAnimationFrame(animate);
    const elapsedTime = speed * Math.min(0.1, (now - last) / 1000);
    last = now;
    visualizer.render({ audioLevels, elapsedTime });
}
function resize() {
    canvas.width = innerWidth;
    canvas.height = innerHeight;
    visualizer.setRendererSize(innerWidth, innerHeight);
}
addEventListener("resize", resize);
resize();
loadPresetByName(current, 0);
requestAnimationFrame(animate);
