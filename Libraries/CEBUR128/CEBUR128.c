// The functions of libebur128 that Hemiola uses, under their own names: each calls through a pointer that is set by dlsym(3).
//
// Linked normally, libebur128 would be loaded at every start, although only the analyzer `loudness` needs it.
#include "CEBUR128.h"

#include <dlfcn.h>
#include <pthread.h>

// X(result, name, (parameters), (arguments)). The compiler checks each against its declaration in the header.
#define FUNCTIONS(X) \
    X(int, ebur128_add_frames_float, (ebur128_state *state, const float *samples, size_t frames), (state, samples, frames)) \
    X(ebur128_state *, ebur128_init, (unsigned int channels, unsigned long sample_rate, int mode), (channels, sample_rate, mode)) \
    X(int, ebur128_loudness_window, (ebur128_state *state, unsigned long milliseconds, double *result), \
      (state, milliseconds, result)) \
    X(void, ebur128_destroy, (ebur128_state **state), (state)) \
    X(int, ebur128_set_channel, (ebur128_state *state, unsigned int channel, int position), (state, channel, position))

#define DEFINE(result, name, parameters, arguments) \
    static result(*cebur128_##name) parameters; \
    result name parameters { return cebur128_##name arguments; }
FUNCTIONS(DEFINE)

static const char *fault;

static void load(void) {
    // The soname of every version 1.
    void *library = dlopen("libebur128.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fault = "libebur128.so.1 cannot be loaded";
        return;
    }
#define LOAD(result, name, parameters, arguments) \
    if (!(cebur128_##name = (result(*) parameters)dlsym(library, #name))) fault = "libebur128.so.1 has no " #name;
    FUNCTIONS(LOAD)
}

const char *cebur128_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return fault;
}
