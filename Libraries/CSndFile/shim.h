// libsndfile. Only Plugins/Captures/File/SoundFile.swift and Plugins/Sinks/Files/Audio/FLACEncoder.swift import this module.
#include <sndfile.h>
#include <stdio.h>

#ifdef __GLIBC__
typedef struct {
    ssize_t (*read)(void *, char *, size_t);
    ssize_t (*write)(void *, const char *, size_t);
    int (*seek)(void *, long *, int);
    int (*close)(void *);
} hemiola_cookie_functions;
// fopencookie(3), which glibc's headers declare for GNU sources only.
extern FILE *hemiola_open_cookie(void *, const char *, hemiola_cookie_functions) __asm__("fopencookie");
#endif

// Redirects the C streams `stdout` and `stderr` of this process to a function. It runs on the printing thread, with the descriptor, 1
// or 2, as its first argument. glibc's manual allows these assignments. Writes to the descriptors themselves are not affected.
static inline void hemiola_redirect_output(ssize_t (*write)(void *, const char *, size_t)) {
#ifdef __GLIBC__
    hemiola_cookie_functions functions = {NULL, write, NULL, NULL};
    FILE *output = hemiola_open_cookie((void *)1, "w", functions);
    FILE *errors = hemiola_open_cookie((void *)2, "w", functions);
    if (output != NULL) {
        setvbuf(output, NULL, _IONBF, 0);
        fflush(stdout);
        stdout = output;
    }
    if (errors != NULL) {
        setvbuf(errors, NULL, _IONBF, 0);
        stderr = errors;
    }
#endif
}
