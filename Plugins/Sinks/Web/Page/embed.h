// Embeds the file PAGE_FILE, a path relative to this folder. Included by Sources/CWebPage/CWebPage.c, once for each file.
    if (number-- == 0) {
        static const unsigned char bytes[] = {
#embed PAGE_FILE
        };
        return (cwebpage_file){PAGE_FILE, bytes, sizeof bytes};
    }
#undef PAGE_FILE
