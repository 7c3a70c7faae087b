// A visualizer as it is written for the web view of a native program: the program calls the functions below, and the page sends
// messages to its handlers. Nothing here depends on Hemiola.

const canvas = document.getElementById("canvas");
const context = canvas.getContext("2d");

const presets = {
    Rings: { hue: 190, draw: drawRings },
    Bars: { hue: 40, draw: drawBars },
    Étincelles: { hue: 320, draw: drawSparks },
};
let current = "Rings";
let speed = window.initialSpeed ?? 1;
let colours = null;
let samples = new Array(2048).fill(0);
let level = 0;
let angle = 0;
let received = 0;

// The initial preset is passed as base64 of UTF-8, so that every name is possible.
if (window.initialPresetNameB64) {
    const bytes = Uint8Array.from(atob(window.initialPresetNameB64), (character) => character.charCodeAt(0));
    const name = new TextDecoder().decode(bytes);
    if (name in presets) current = name;
}

// Functions that the program calls.

function pushSamples(newSamples) {
    samples = newSamples;
    received += 1;
}

function getPresetNames() {
    return Object.keys(presets);
}

function getCurrentPreset() {
    return current;
}

function loadPresetByName(name) {
    if (!(name in presets)) throw new Error(`no preset ${name}`);
    current = name;
    showState();
}

function setSpeed(newSpeed) {
    speed = newSpeed;
    document.getElementById("speed").value = newSpeed;
}

let audioContext = null;
function resumeAudio() {
    audioContext ??= new AudioContext();
    return audioContext.resume();
}

function getStatistics() {
    return { received, level, speed, audio: audioContext?.state ?? null };
}

/** Imports colours: a JSON file with a list of hues in degrees. */
async function importFile(name, base64) {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const hues = JSON.parse(new TextDecoder().decode(bytes));
    if (!Array.isArray(hues) || !hues.every(Number.isFinite)) throw new Error(`${name}: expected a list of numbers`);
    colours = hues;
    return { name, bytes: bytes.length, colours: hues.length };
}

// Messages to the program.

function send(handler, body) {
    window.webkit?.messageHandlers?.[handler]?.postMessage(body);
}

function next() {
    const names = getPresetNames();
    loadPresetByName(names[(names.indexOf(current) + 1) % names.length]);
    send("presetHandler", current);
}

document.getElementById("next").addEventListener("click", next);
document.getElementById("speed").addEventListener("input", (event) => {
    speed = event.target.valueAsNumber;
    send("speedHandler", speed);
});
document.getElementById("lamp").addEventListener("click", () => send("lamp", { on: true, hue: presets[current].hue }));
document.getElementById("close").addEventListener("click", () => send("closeViz", null));
for (const type of ["keydown", "keyup"]) {
    window.addEventListener(type, (event) => {
        if (event.repeat || event.target.localName === "input") return;
        if (event.key.length === 1 && "awsedftgyhujkolp".includes(event.key)) send("keyHandler", { key: event.key, event: type });
        else if (event.key === "Escape" && type === "keydown") send("closeViz", null);
    });
}

// The picture.

function showState() {
    document.getElementById("state").textContent = current;
}

function hue(index) {
    return colours?.length ? colours[index % colours.length] : presets[current].hue + 8 * index;
}

function drawRings(width, height) {
    for (let ring = 0; ring < 12; ring++) {
        context.strokeStyle = `hsl(${hue(ring)} 70% 60% / 0.8)`;
        context.lineWidth = 2;
        context.beginPath();
        const radius = (Math.min(width, height) * (ring + 2)) / 30;
        for (let i = 0; i <= 128; i++) {
            const sample = samples[((i % 128) * 16 + ring * 128) % 2048];
            const r = radius * (1 + 0.9 * sample);
            const a = (i / 128) * 2 * Math.PI + angle * (ring % 2 === 0 ? 1 : -1);
            context.lineTo(width / 2 + r * Math.cos(a), height / 2 + r * Math.sin(a));
        }
        context.stroke();
    }
}

function drawBars(width, height) {
    for (let bar = 0; bar < 32; bar++) {
        let peak = 0;
        for (let i = 0; i < 64; i++) peak = Math.max(peak, Math.abs(samples[bar * 64 + i]));
        context.fillStyle = `hsl(${hue(bar)} 70% 55%)`;
        context.fillRect((bar * width) / 32 + 2, height * (0.5 - peak / 2), width / 32 - 4, Math.max(2, height * peak));
    }
}

function drawSparks(width, height) {
    for (let i = 0; i < 256; i++) {
        const x = width * (0.5 + 0.6 * samples[i * 8] + 0.1 * Math.cos(i + angle));
        const y = height * (0.5 + 0.6 * samples[i * 8 + 1] + 0.1 * Math.sin(i * 1.7 + angle));
        context.fillStyle = `hsl(${hue(i % 16)} 80% 65%)`;
        context.fillRect(x, y, 3, 3);
    }
}

let last = performance.now();
function animate(now) {
    requestAnimationFrame(animate);
    angle += speed * Math.min(0.1, (now - last) / 1000);
    last = now;
    level = Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / 2048);
    const { clientWidth: width, clientHeight: height } = canvas;
    if (canvas.width !== width || canvas.height !== height) {
        canvas.width = width;
        canvas.height = height;
    }
    context.clearRect(0, 0, width, height);
    presets[current].draw(width, height);
}

showState();
requestAnimationFrame(animate);
