// The functions of libmpg123 that Hemiola uses, under their own names: each calls through a pointer that is set by dlsym(3).
// RTLD_DEFAULT
#define _GNU_SOURCE
#include "CMPG123.h"

#include <dlfcn.h>
#include <pthread.h>

// X(result, name, (parameters), (arguments)). The compiler checks each against its declaration in the header.
#define FUNCTIONS(X) \
    X(int, mpg123_decode, \
      (mpg123_handle *mh, const unsigned char *in, size_t in_size, void *out, size_t out_size, size_t *done), \
      (mh, in, in_size, out, out_size, done)) \
    X(void, mpg123_delete, (mpg123_handle *mh), (mh)) \
    X(int, mpg123_id3, (mpg123_handle *mh, mpg123_id3v1 **v1, mpg123_id3v2 **v2), (mh, v1, v2)) \
    X(mpg123_handle *, mpg123_new, (const char *decoder, int *error), (decoder, error)) \
    X(int, mpg123_open_feed, (mpg123_handle *mh), (mh)) \
    X(int, mpg123_param, (mpg123_handle *mh, enum mpg123_parms type, long value, double fvalue), (mh, type, value, fvalue))

#define DEFINE(result, name, parameters, arguments) \
    static result(*cmpg123_##name) parameters; \
    result name parameters { return cmpg123_##name arguments; }
FUNCTIONS(DEFINE)

static const char *fault;

static void load(void) {
    // libsndfile brings libmpg123 with it, in a Python wheel under another name. All versions have the same soname.
    void *library = RTLD_DEFAULT;
    if (!dlsym(library, "mpg123_decode") && !(library = dlopen("libmpg123.so.0", RTLD_NOW | RTLD_LOCAL))) {
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
