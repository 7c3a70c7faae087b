#include "CWebPage.h"

// `#embed` is standard since C23; clang has it in earlier versions of the language too.
#pragma clang diagnostic ignored "-Wc23-extensions"

// The list of the page's files. A test compares it with the folder.
#define EMBED "../../Plugins/Sinks/Web/Page/embed.h"

cwebpage_file cwebpage_file_at(unsigned number) {
#define PAGE_FILE "index.html"
#include EMBED
#define PAGE_FILE "hemiola.js"
#include EMBED
    return (cwebpage_file){NULL, NULL, 0};
}
