#include "CWebPage.h"

// `#embed` is standard since C23; clang has it in earlier versions of the language too.
#pragma clang diagnostic ignored "-Wc23-extensions"

// The list of the page's files. A test compares it with the folder.
#define EMBED "../../Plugins/Sinks/Web/Page/embed.h"

cwebpage_file cwebpage_file_at(unsigned number) {
#define PAGE_FILE "hemiola.d.ts"
#include EMBED
#define PAGE_FILE "hemiola.js"
#include EMBED
#define PAGE_FILE "index.html"
#include EMBED
#define PAGE_FILE "js/app.js"
#include EMBED
#define PAGE_FILE "js/audio.js"
#include EMBED
#define PAGE_FILE "js/beats.js"
#include EMBED
#define PAGE_FILE "js/chroma.js"
#include EMBED
#define PAGE_FILE "js/dom.js"
#include EMBED
#define PAGE_FILE "js/drawers.js"
#include EMBED
#define PAGE_FILE "js/fallback.js"
#include EMBED
#define PAGE_FILE "js/fft.js"
#include EMBED
#define PAGE_FILE "js/flash.js"
#include EMBED
#define PAGE_FILE "js/harmony.js"
#include EMBED
#define PAGE_FILE "js/keys.js"
#include EMBED
#define PAGE_FILE "js/music.js"
#include EMBED
#define PAGE_FILE "js/options.js"
#include EMBED
#define PAGE_FILE "js/panels.js"
#include EMBED
#define PAGE_FILE "js/playlist.js"
#include EMBED
#define PAGE_FILE "js/presetcontrol.js"
#include EMBED
#define PAGE_FILE "js/presetlist.js"
#include EMBED
#define PAGE_FILE "js/presets/coral.js"
#include EMBED
#define PAGE_FILE "js/presets/dial.js"
#include EMBED
#define PAGE_FILE "js/presets/index.js"
#include EMBED
#define PAGE_FILE "js/presets/massif.js"
#include EMBED
#define PAGE_FILE "js/presets/murmuration.js"
#include EMBED
#define PAGE_FILE "js/presets/nebula.js"
#include EMBED
#define PAGE_FILE "js/presets/phosphor.js"
#include EMBED
#define PAGE_FILE "js/presets/rose.js"
#include EMBED
#define PAGE_FILE "js/presets/silk.js"
#include EMBED
#define PAGE_FILE "js/presets/slitscan.js"
#include EMBED
#define PAGE_FILE "js/presets/tide.js"
#include EMBED
#define PAGE_FILE "js/presets/vinyl.js"
#include EMBED
#define PAGE_FILE "js/resolution.js"
#include EMBED
#define PAGE_FILE "js/rhythm.js"
#include EMBED
#define PAGE_FILE "js/samples.js"
#include EMBED
#define PAGE_FILE "js/scale.js"
#include EMBED
#define PAGE_FILE "js/search.js"
#include EMBED
#define PAGE_FILE "js/spectrogram.js"
#include EMBED
#define PAGE_FILE "js/spectrum.js"
#include EMBED
#define PAGE_FILE "js/stage.js"
#include EMBED
#define PAGE_FILE "js/status.js"
#include EMBED
#define PAGE_FILE "js/statusview.js"
#include EMBED
#define PAGE_FILE "js/surface.js"
#include EMBED
#define PAGE_FILE "js/tempo.js"
#include EMBED
#define PAGE_FILE "js/waveform.js"
#include EMBED
#define PAGE_FILE "js/webgl.js"
#include EMBED
#define PAGE_FILE "page.css"
#include EMBED
    return (cwebpage_file){NULL, NULL, 0};
}
