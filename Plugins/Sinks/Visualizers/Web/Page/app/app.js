// The page: connects the page script, the analysis, the stage, the displays and the controls.

import { AudioAnalysis } from "../analysis/audio.js";
import { BeatClock } from "../analysis/beats.js";
import { closeDrawer, addDrawer, openDrawer } from "./drawers.js";
import { element, onClick, setText, showRangeFill, storage } from "./dom.js";
import { actionOfKey } from "./keys.js";
import { parseOptions } from "./options.js";
import { Panels } from "../panels/panels.js";
import { PresetControl } from "./presetcontrol.js";
import { createStage } from "../stage/stage.js";
import { StatusView } from "./statusview.js";
import { pixelRatio } from "../panels/surface.js";
import { TempoControl } from "./tempo.js";

const { hemiola } = window;
const { messageHandlers } = window.webkit;
const options = parseOptions(location.search);
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
const root = document.documentElement;

root.classList.toggle("transparent", options.transparent);
if (options.size) {
    root.classList.add("fixed");
    document.body.style.width = `${options.size.width}px`;
    document.body.style.height = `${options.size.height}px`;
}
if (options.delay !== null) hemiola.setDelay(options.delay, false);

// MARK: Stage

const canvas = element("stage");
const stage = createStage(canvas, {
    transparent: options.transparent,
    strobe: options.strobe,
    seed: options.seed ?? Math.floor(Math.random() * 2 ** 32),
    reducedMotion: reducedMotion.matches,
    // Errors of presets become page errors in Hemiola's log.
    onerror: ({ message, error }) => reportError(error instanceof Error ? error : new Error(message)),
});
reducedMotion.addEventListener("change", () => location.reload());

function resizeStage() {
    stage.resize(canvas.clientWidth, canvas.clientHeight, options.size ? 1 : pixelRatio());
}
new ResizeObserver(resizeStage).observe(canvas);
resizeStage();

// MARK: Parts

const analysis = new AudioAnalysis();
const beats = new BeatClock();
const status = new StatusView(hemiola, options);
const panels = new Panels({ hemiola, analysis, beats, isSlow: reducedMotion.matches }, storage(), subscribe);
const presets = new PresetControl(hemiola, stage, { storage: storage(), pinned: options.preset !== null });
const tempo = new TempoControl(hemiola);
let speed = 1;

/** Batches are sent only to a page that shows them. */
function subscribe() {
    hemiola.subscribe(["pushSamples", "beat", "preset", "device", "control", "end", ...(panels.needsBatches ? ["batch"] : [])]);
}
subscribe();
hemiola.addEventListener("hello", () => {
    analysis.reset();
    analysis.setSampleRate(hemiola.sampleRate || 44100);
    beats.reset();
});
hemiola.addEventListener("samples", ({ detail }) => analysis.history.add(detail.samples, detail.frame));
hemiola.addEventListener("beat", ({ detail }) => beats.add(detail));

// The functions that Hemiola calls, as in any page.
window.getPresetNames = () => stage.names;
window.getCurrentPreset = () => stage.current;
window.loadPresetByName = (name) => presets.loadForHost(name, hemiola.blendSeconds);
window.setSpeed = (value) => showSpeed(value);

function initialPreset() {
    const stored = window.initialPresetNameB64;
    const bytes = stored ? Uint8Array.from(atob(stored), (character) => character.charCodeAt(0)) : null;
    const candidates = [options.preset, bytes && new TextDecoder().decode(bytes)];
    return candidates.find((name) => stage.names.includes(name)) ?? stage.names[0];
}
presets.load(initialPreset(), 0);
presets.show();

// MARK: Pictures

let lastTime = performance.now();
let interval = 16;
let marks = 0;

function animate() {
    requestAnimationFrame(animate);
    const now = performance.now();
    const dt = Math.min(0.5, (now - lastTime) / 1000);
    interval += 0.1 * (Math.min(100, now - lastTime) - interval);
    lastTime = now;
    const time = hemiola.toStreamTime(now) - hemiola.delay;
    // A beat belongs to the picture that is nearest to it.
    const beat = beats.due(time + interval / 2000);
    const frame = analysis.update(hemiola.connected ? time : NaN, dt, speed, reducedMotion.matches);
    beats.describe(time + interval / 2000, frame.beat);
    if (!hemiola.connected) frame.silent = true;
    stage.render(frame);
    if (!controlsHidden) panels.draw(frame);
    if (beat) beatDrawn(beat);
    status.setSilent(frame.silent);
    tempo.show(frame.beat.bpm);
    presets.advance(dt);
}

/** Reports that the picture of a beat was drawn: as an event, and as a mark in the browser's timeline. */
function beatDrawn(beat) {
    if (marks++ % 1000 === 999) performance.clearMarks("hemiola-beat");
    performance.mark("hemiola-beat", { detail: { t: beat.t } });
    hemiola.dispatchEvent(new CustomEvent("beatdrawn", { detail: { t: beat.t, time: performance.now() } }));
}

// MARK: Controls

const speedInput = element("speed");
function showSpeed(value) {
    if (!Number.isFinite(value)) return;
    speed = Math.min(1, Math.max(0.1, value));
    speedInput.value = speed;
    const text = `${speed.toFixed(2)}×`;
    speedInput.setAttribute("aria-valuetext", text);
    setText(element("speed-value"), text);
    showRangeFill(speedInput);
}
showSpeed(typeof window.initialSpeed === "number" ? window.initialSpeed : 1);
speedInput.addEventListener("input", () => {
    showSpeed(speedInput.valueAsNumber);
    messageHandlers.speedHandler.postMessage(Math.round(speed * 100) / 100);
});

const delayInput = element("delay");
function showDelay() {
    delayInput.value = Math.round(hemiola.delay * 1000);
    const text = `${Math.round(hemiola.delay * 1000)} ms`;
    delayInput.setAttribute("aria-valuetext", text);
    setText(element("delay-value"), text);
    showRangeFill(delayInput);
}
showDelay();
delayInput.addEventListener("input", () => (hemiola.delay = delayInput.valueAsNumber / 1000));
hemiola.addEventListener("delay", showDelay);

addDrawer("presets", "presets-button", () => element("search"), () => presets.list.refresh());
addDrawer("settings", "settings-button", () => delayInput);

// MARK: Hide and close

let controlsHidden = false;
const chrome = [element("top"), element("dock")];

function setHidden(hidden) {
    if (hidden) closeDrawer();
    controlsHidden = hidden;
    for (const part of chrome) part.hidden = hidden;
    element("show-controls").hidden = !hidden || options.bare;
    // The next Tab key reaches the button that shows the controls again.
    if (hidden) element("main").focus();
}

function close() {
    messageHandlers.closeViz.postMessage(null);
}

onClick("hide", () => setHidden(true));
onClick("close", close);
onClick("show-controls", () => {
    setHidden(false);
    element("hide").focus();
});

let idleTimer = 0;
function pointerMoved() {
    canvas.classList.remove("idle");
    clearTimeout(idleTimer);
    idleTimer = setTimeout(() => canvas.classList.add("idle"), 2500);
}
window.addEventListener("pointermove", pointerMoved, { passive: true });
canvas.addEventListener("pointerup", () => {
    if (controlsHidden && !options.bare) setHidden(false);
    else closeDrawer();
});

if (options.bare) setHidden(true);
if (options.strobe) {
    element("strobe").hidden = false;
    if (options.bare) {
        // Without controls the warning is shown for a while.
        element("main").append(element("strobe"));
        element("strobe").classList.add("strobe-alone");
        setTimeout(() => (element("strobe").hidden = true), 10000);
    }
}

// MARK: Keyboard

const keyboard = element("keyboard");
keyboard.checked = storage()?.getItem("hemiola.keyboard") !== "off";
keyboard.addEventListener("change", () => storage()?.setItem("hemiola.keyboard", keyboard.checked ? "on" : "off"));

const actions = {
    previous: () => presets.change("previous"),
    next: () => presets.change("next"),
    random: () => presets.change("random"),
    cycle: () => presets.toggleCycle(),
    tap: () => tempo.tap(),
    favourite: () => presets.toggleFavourite(),
    hide: () => !options.bare && setHidden(!controlsHidden),
    search: () => {
        if (!options.bare) {
            setHidden(false);
            openDrawer("presets");
        }
    },
};
const pressed = new Set();

/** Escape closes the open panel, else shows hidden controls, else closes the visualizer. */
function escape() {
    if (hemiola.closed || closeDrawer()) return;
    if (controlsHidden && !options.bare) setHidden(false);
    else close();
}

window.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) {
        if (!event.repeat) escape();
        return;
    }
    const action = keyboard.checked ? actionOfKey(event, document.activeElement) : null;
    if (!action) return;
    if (!event.repeat) {
        if (action.note !== undefined) {
            pressed.add(action.key);
            messageHandlers.keyHandler.postMessage({ key: action.key, event: "keydown" });
        } else {
            actions[action.action]();
        }
    }
    event.preventDefault();
});

function release(key) {
    if (pressed.delete(key)) messageHandlers.keyHandler.postMessage({ key, event: "keyup" });
}
window.addEventListener("keyup", (event) => release(event.key.toLowerCase()));
// Keys that are released in another window send no event here.
window.addEventListener("blur", () => [...pressed].forEach(release));

// The first hello can arrive before this module runs.
if (hemiola.hello) hemiola.dispatchEvent(new CustomEvent("hello", { detail: hemiola.hello }));
requestAnimationFrame(animate);
