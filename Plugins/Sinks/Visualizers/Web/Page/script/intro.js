const hemiolaInitial = null;
// The page script: connects a web page to Hemiola, in a browser and in a window of Hemiola. It runs before the page's own scripts, as
//
//     <script src="/hemiola.js"></script>                                      in a page that Hemiola serves (inserted automatically)
//     <script src="http://127.0.0.1:8043/hemiola.js?token=TOKEN"></script>     in a page of another server (setting origin=)
//
// For the page it is what a native web view is: it calls pushSamples, resumeAudio, setSpeed and loadPresetByName, and provides
// webkit.messageHandlers. window.hemiola has records, controls and the clock as well; hemiola.d.ts describes it.
// Hemiola replaces the first line by the current state. The parts, which embed.h lists, share this function's scope: a module would run
// after the page's scripts.
(() => {
"use strict";
if (window.hemiola) return;

