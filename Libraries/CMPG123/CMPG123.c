// The functions of libmpg123 that Hemiola uses, under their own names: each calls through a pointer that is set by dlsym(3).
#include "CMPG123.h"

#include <dlfcn.h>
#include <pthread.h>

// X(result, name, (parameters), (arguments)). The compiler checks each against its declaration in the header.
#define FUNCTIONS(X)

#define DEFINE(result, name, parameters, arguments) \
    static result(*cmpg123_##name) parameters; \
    result name parameters { return cmpg123_##name arguments; }
FUNCTIONS(DEFINE)

static const char *fault;

static void load(void) {
    void *library = dlopen("libmpg123.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fault = "libmpg123.so.0 cannot be loaded";
        return;
    }
#define LOAD(result, name, parameters, arguments) \
    if (!(cmpg123_##name = (result(*) parameters)dlsym(library, #name))) fault = "libmpg123.so.0 has no " #name;
    FUNCTIONS(LOAD)
}

const char *cmpg123_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return fault;
}
