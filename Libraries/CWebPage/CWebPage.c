#include "CWebPage.h"

// `#embed` is standard since C23; clang has it in earlier versions of the language too.
#pragma clang diagnostic ignored "-Wc23-extensions"

// The list of the page's files. A test compares it with the folder.
#define EMBED "../../Plugins/Sinks/Visualizers/Web/Page/embed.h"

cwebpage_file cwebpage_file_at(unsigned number) {
#define PAGE_FILE "analysis/audio.js"
#include EMBED
#define PAGE_FILE "analysis/beats.js"
#include EMBED
#define PAGE_FILE "analysis/colour.js"
#include EMBED
#define PAGE_FILE "analysis/drums.js"
#include EMBED
#define PAGE_FILE "analysis/fft.js"
#include EMBED
#define PAGE_FILE "analysis/harmony.js"
#include EMBED
#define PAGE_FILE "analysis/music.js"
#include EMBED
#define PAGE_FILE "analysis/samples.js"
#include EMBED
#define PAGE_FILE "analysis/scale.js"
#include EMBED
#define PAGE_FILE "app/app.js"
#include EMBED
#define PAGE_FILE "app/dom.js"
#include EMBED
#define PAGE_FILE "app/drawers.js"
#include EMBED
#define PAGE_FILE "app/files.js"
#include EMBED
#define PAGE_FILE "app/keys.js"
#include EMBED
#define PAGE_FILE "app/options.js"
#include EMBED
#define PAGE_FILE "app/picture.js"
#include EMBED
#define PAGE_FILE "app/presetcontrol.js"
#include EMBED
#define PAGE_FILE "app/presetlist.js"
#include EMBED
#define PAGE_FILE "app/screen.js"
#include EMBED
#define PAGE_FILE "app/search.js"
#include EMBED
#define PAGE_FILE "app/settings.js"
#include EMBED
#define PAGE_FILE "app/sliders.js"
#include EMBED
#define PAGE_FILE "app/status.js"
#include EMBED
#define PAGE_FILE "app/statusview.js"
#include EMBED
#define PAGE_FILE "app/tempo.js"
#include EMBED
#define PAGE_FILE "app/visibility.js"
#include EMBED
#define PAGE_FILE "index.html"
#include EMBED
#define PAGE_FILE "page.css"
#include EMBED
#define PAGE_FILE "panels/harmony.js"
#include EMBED
#define PAGE_FILE "panels/index.js"
#include EMBED
#define PAGE_FILE "panels/panels.js"
#include EMBED
#define PAGE_FILE "panels/rhythm.js"
#include EMBED
#define PAGE_FILE "panels/spectrogram.js"
#include EMBED
#define PAGE_FILE "panels/spectrum.js"
#include EMBED
#define PAGE_FILE "panels/surface.js"
#include EMBED
#define PAGE_FILE "panels/waveform.js"
#include EMBED
#define PAGE_FILE "script/hemiola.d.ts"
#define PAGE_PATH "hemiola.d.ts"
#include EMBED
#define PAGE_FILE "script/film.js"
#define PAGE_PATH "film.js"
#include EMBED
#include "../../Plugins/Sinks/Visualizers/Web/Page/script/embed.h"
#define PAGE_FILE "stage/bloom.js"
#include EMBED
#define PAGE_FILE "stage/compositor.js"
#include EMBED
#define PAGE_FILE "stage/flash.js"
#include EMBED
#define PAGE_FILE "stage/frame.html"
#include EMBED
#define PAGE_FILE "stage/frame.js"
#include EMBED
#define PAGE_FILE "stage/plainpicture.js"
#include EMBED
#define PAGE_FILE "stage/player.js"
#include EMBED
#define PAGE_FILE "stage/presetframe.js"
#include EMBED
#define PAGE_FILE "stage/renderer.js"
#include EMBED
#define PAGE_FILE "stage/resolution.js"
#include EMBED
#define PAGE_FILE "stage/stage.js"
#include EMBED
#define PAGE_FILE "stage/userpresets.js"
#include EMBED
#define PAGE_FILE "stage/visuals/coral.js"
#include EMBED
#define PAGE_FILE "stage/visuals/dial.js"
#include EMBED
#define PAGE_FILE "stage/visuals/index.js"
#include EMBED
#define PAGE_FILE "stage/visuals/massif.js"
#include EMBED
#define PAGE_FILE "stage/visuals/murmuration.js"
#include EMBED
#define PAGE_FILE "stage/visuals/nebula.js"
#include EMBED
#define PAGE_FILE "stage/visuals/phosphor.js"
#include EMBED
#define PAGE_FILE "stage/visuals/rose.js"
#include EMBED
#define PAGE_FILE "stage/visuals/silk.js"
#include EMBED
#define PAGE_FILE "stage/visuals/slitscan.js"
#include EMBED
#define PAGE_FILE "stage/visuals/tide.js"
#include EMBED
#define PAGE_FILE "stage/visuals/vinyl.js"
#include EMBED
#define PAGE_FILE "stage/webgl.js"
#include EMBED
    return (cwebpage_file){NULL, NULL, 0};
}
