// The functions of cairo that Hemiola uses, under their own names: each calls through a pointer that is set by dlsym(3).
#include "CCairo.h"

#include <dlfcn.h>
#include <pthread.h>

#define DEFINE(result, name, parameters, arguments) \
    static result(*ccairo_##name) parameters; \
    result name parameters { return ccairo_##name arguments; }
CCAIRO_FUNCTIONS(DEFINE)

static const char *fault;

static void load(void) {
    // The soname of every cairo since 1.0. Never unloaded.
    void *library = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fault = "libcairo.so.2 cannot be loaded";
        return;
    }
#define LOAD(result, name, parameters, arguments) \
    if (!(ccairo_##name = (result(*) parameters)dlsym(library, #name))) fault = "libcairo.so.2 is older than 1.16: it has no " #name;
    CCAIRO_FUNCTIONS(LOAD)
}

const char *ccairo_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return fault;
}
