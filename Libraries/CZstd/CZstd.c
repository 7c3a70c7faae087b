// The functions of Zstandard that Hemiola uses, under their own names: each calls through a pointer that is set by dlsym(3).
//
// Linked normally, Zstandard would be loaded at every start, although only compressed outputs need it.
#include "CZstd.h"

#include <dlfcn.h>
#include <pthread.h>

// X(result, name, (parameters), (arguments)). The compiler checks each against its declaration in the header.
#define FUNCTIONS(X) \
    X(size_t, ZSTD_CCtx_setParameter, (ZSTD_CCtx *context, ZSTD_cParameter parameter, int value), (context, parameter, value)) \
    X(size_t, ZSTD_CStreamOutSize, (void), ()) \
    X(size_t, ZSTD_compressStream2, \
      (ZSTD_CCtx *context, ZSTD_outBuffer *output, ZSTD_inBuffer *input, ZSTD_EndDirective step), (context, output, input, step)) \
    X(ZSTD_CCtx *, ZSTD_createCCtx, (void), ()) \
    X(size_t, ZSTD_freeCCtx, (ZSTD_CCtx *context), (context)) \
    X(ZSTD_DCtx *, ZSTD_createDCtx, (void), ()) \
    X(size_t, ZSTD_freeDCtx, (ZSTD_DCtx *context), (context)) \
    X(size_t, ZSTD_DStreamOutSize, (void), ()) \
    X(size_t, ZSTD_decompressStream, (ZSTD_DCtx *context, ZSTD_outBuffer *output, ZSTD_inBuffer *input), (context, output, input)) \
    X(const char *, ZSTD_getErrorName, (size_t code), (code)) \
    X(unsigned, ZSTD_isError, (size_t code), (code))

#define DEFINE(result, name, parameters, arguments) \
    static result(*czstd_##name) parameters; \
    result name parameters { return czstd_##name arguments; }
FUNCTIONS(DEFINE)

static const char *fault;

static void load(void) {
    // The soname of every version 1.
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fault = "libzstd.so.1 cannot be loaded";
        return;
    }
#define LOAD(result, name, parameters, arguments) \
    if (!(czstd_##name = (result(*) parameters)dlsym(library, #name))) fault = "libzstd.so.1 has no " #name;
    FUNCTIONS(LOAD)
}

const char *czstd_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return fault;
}
