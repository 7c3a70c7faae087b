#include "CQREncode.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

// The declarations of <qrencode.h>, version 4, as far as they are used here: the header is not needed to build Hemiola.
typedef struct {
    int version;
    int width;
    unsigned char *data;
} QRcode;
static QRcode *(*encode)(const char *text, int version, int level);
static void (*release)(QRcode *code);

static const char *fault;

static void load(void) {
    // Never unloaded.
    void *library = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fault = "libqrencode.so.4 is not installed";
        return;
    }
    encode = (QRcode * (*)(const char *, int, int)) dlsym(library, "QRcode_encodeString8bit");
    release = (void (*)(QRcode *))dlsym(library, "QRcode_free");
    if (!encode || !release) fault = "libqrencode.so.4 has no QRcode_encodeString8bit";
}

const char *cqrencode(const char *text, unsigned char **modules, int *width) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (fault) return fault;
    // Version 0: the smallest. Level 0: L.
    QRcode *code = encode(text, 0, 0);
    if (!code) return "the text is too long for a QR code";
    size_t count = (size_t)code->width * (size_t)code->width;
    *width = code->width;
    *modules = malloc(count);
    // The lowest bit of a module is its colour.
    for (size_t index = 0; *modules && index < count; index++) (*modules)[index] = code->data[index] & 1;
    release(code);
    return *modules ? NULL : "out of memory";
}
