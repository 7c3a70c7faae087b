// The page: connects its parts.

import { AudioAnalysis } from "../analysis/audio.js";
import { BeatClock } from "../analysis/beats.js";
import { DrumLights } from "../analysis/drums.js";
import { closeDrawer, addDrawer, openDrawer } from "./drawers.js";
import { element, onClick, showMessage } from "./dom.js";
import { connectKeyboard } from "./keys.js";
import { parseOptions } from "./options.js";
import { Panels } from "../panels/panels.js";
import { Picture } from "./picture.js";
import { PresetControl } from "./presetcontrol.js";
import { connectFullScreen, toggleFullScreen, WakeLock } from "./screen.js";
import { connectSetting } from "./settings.js";
import { connectDelaySlider, SpeedSlider } from "./sliders.js";
import { Stage } from "../stage/stage.js";
import { connectFiles } from "./files.js";
import { StatusView } from "./statusview.js";
import { readTheme } from "../panels/surface.js";
import { TempoControl } from "./tempo.js";
import { UserPresets } from "../stage/userpresets.js";
import { Visibility } from "./visibility.js";

const { hemiola } = window;
const options = parseOptions(location.search);
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
reducedMotion.addEventListener("change", () => location.reload());
const isSlow = reducedMotion.matches;

document.documentElement.classList.toggle("transparent", options.transparent);
document.documentElement.classList.toggle("bare", options.bare);
if (options.size) {
    document.documentElement.classList.add("fixed");
    document.body.style.width = `${options.size.width}px`;
    document.body.style.height = `${options.size.height}px`;
}
if (options.delay !== null) hemiola.setDelay(options.delay, false);

const user = new UserPresets({
    place: (frame) => element("stage").after(frame),
    isOwn: (name) => stage.isOwn(name),
    sampleRate: () => hemiola.sampleRate || 44100,
    adaptive: options.seed === null,
    onchange() {
        presets.update();
        element("forget").hidden = !user.hasDropped;
    },
    onstopped({ preset, message }) {
        reportError(new Error(`preset ${preset}: ${message}`));
        showMessage(`${preset}: ${message}`);
        presets.replace(preset);
    },
});
const stage = new Stage(element("stage"), {
    user,
    transparent: options.transparent,
    strobe: options.strobe,
    seed: options.seed ?? Math.floor(Math.random() * 2 ** 32),
    reducedMotion: isSlow,
    // A seed asks for the same picture on every machine.
    adaptive: options.seed === null,
    onslow: showSlowness,
    // Errors of presets become page errors in Hemiola's log.
    onerror({ message }) {
        reportError(new Error(message));
        presets.show();
    },
});

/** Says that the presets are too slow, and offers them again. */
function showSlowness(isTooSlow) {
    element("retry").hidden = !isTooSlow;
    presets.show();
    if (isTooSlow) showMessage("Presets are too slow on this computer: this is a plain picture. “Show presets” tries again.");
}
onClick("retry", () => stage.retry());

const analysis = new AudioAnalysis();
const beats = new BeatClock();
const drums = new DrumLights();
const visibility = new Visibility(options);
const wakeLock = new WakeLock();
const status = new StatusView(hemiola, options, (kind) => wakeLock.set(kind === "live"));
const panels = new Panels({ hemiola, analysis, isSlow }, subscribe);
const presets = new PresetControl(hemiola, stage, { pinned: options.preset !== null });
const tempo = new TempoControl(hemiola, (message) => presets.request(message));
const speed = new SpeedSlider();
connectDelaySlider(hemiola);
connectSetting("light", false, (isLight) => {
    document.documentElement.classList.toggle("light", isLight);
    readTheme();
});
connectFullScreen();
addDrawer("presets", "presets-button", () => element("search"), () => {
    presets.list.refresh();
    user.refresh();
});
addDrawer("settings", "settings-button", () => element("delay"));

/** Batches are sent only to a page that shows them. A run without drums does not know their records. */
function subscribe() {
    const known = hemiola.hello?.records.map(({ name }) => name) ?? [];
    hemiola.subscribe([
        "pushSamples", "beat", "preset", "device", "control", "end", ...["drum", "expected_drum"].filter((name) => known.includes(name)),
        ...(panels.needsBatches ? ["batch"] : []),
    ]);
}
subscribe();
hemiola.addEventListener("hello", () => {
    analysis.reset();
    analysis.setSampleRate(hemiola.sampleRate || 44100);
    beats.reset();
    drums.reset();
    subscribe();
});
hemiola.addEventListener("samples", ({ detail }) => analysis.history.add(detail.samples, detail.frame));
hemiola.addEventListener("beat", ({ detail }) => beats.add(detail));
hemiola.addEventListener("drum", ({ detail }) => drums.add(detail));
hemiola.addEventListener("expected_drum", ({ detail }) => drums.add(detail));

presets.loadFirst(options.preset);
connectFiles(user, presets);

const picture = new Picture({ hemiola, stage, analysis, beats, drums, panels, visibility, speed, isSlow, fixed: options.size !== null }, (frame) => {
    status.setSilent(frame.silent);
    tempo.show(frame.beat.bpm);
});

// A blackout is one of the lights too, from wherever it comes.
hemiola.addEventListener("control", ({ detail }) => detail.control === "blackout" && picture.black(detail.on !== false));
function blackout() {
    picture.black(!picture.isDark);
    // A replay refuses.
    hemiola.send({ type: "blackout", on: picture.isDark }).catch(() => {});
}
const freeze = () => picture.freeze(!picture.isFrozen);
onClick("blackout", blackout);
onClick("freeze", freeze);
onClick("close", () => window.webkit.messageHandlers.closeViz.postMessage(null));
element("main").addEventListener("pointerup", ({ target }) => {
    if (target.closest("button")) return;
    if (visibility.isHidden) visibility.show();
    else closeDrawer();
});

connectKeyboard({
    previous: () => presets.change("previousPreset"),
    next: () => presets.change("nextPreset"),
    random: () => presets.random(),
    cycle: () => presets.change("toggleCycle"),
    favourite: () => presets.toggleFavourite(),
    tap: () => tempo.tap(),
    blackout,
    freeze,
    fullScreen: toggleFullScreen,
    hide: () => (visibility.isHidden ? visibility.show() : visibility.hide()),
    show: () => visibility.show(),
    search() {
        if (options.bare) return;
        visibility.show();
        openDrawer("presets");
    },
    /** Closes the open drawer, else shows hidden controls. It closes nothing else: in full screen one key too many would end a show. */
    escape: () => closeDrawer() || (visibility.isHidden && visibility.show()),
});

if (options.strobe) {
    element("strobe").hidden = false;
    if (options.bare) {
        // Without controls the warning is shown for a while.
        element("main").append(element("strobe"));
        element("strobe").classList.add("strobe-alone");
        setTimeout(() => (element("strobe").hidden = true), 10000);
    }
}

// The first hello can arrive before this module runs.
if (hemiola.hello) hemiola.dispatchEvent(new CustomEvent("hello", { detail: hemiola.hello }));

// The functions that Hemiola calls, as in any page, when it is known which presets the user has.
const listed = user.refresh().then(() => presets.listed(), (error) => reportError(error));
await Promise.race([listed, new Promise((resolve) => setTimeout(resolve, 3000))]);
window.getPresetNames = () => stage.names;
window.getCurrentPreset = () => stage.current;
window.loadPresetByName = (name) => presets.loadForHost(name, hemiola.blendSeconds);
window.setSpeed = (value) => speed.set(value);
