// Embeds the file PAGE_FILE, a path relative to this folder. Its path on the server is PAGE_PATH, by default the same. Included by
// Libraries/CWebPage/CWebPage.c, once for each file.
#ifndef PAGE_PATH
#define PAGE_PATH PAGE_FILE
#endif
    if (number-- == 0) {
        static const unsigned char bytes[] = {
#embed PAGE_FILE
        };
        return (cwebpage_file){PAGE_PATH, bytes, sizeof bytes};
    }
#undef PAGE_FILE
#undef PAGE_PATH
