// The functions of libyaml that Hemiola uses, under their own names: each calls through a pointer that is set by dlsym(3).
//
// Linked normally, libyaml would be loaded at every start, although only pipeline files need it.
#include "CYAML.h"

#include <dlfcn.h>
#include <pthread.h>

// X(result, name, (parameters), (arguments)). The compiler checks each against its declaration in the header.
#define FUNCTIONS(X) \
    X(void, yaml_event_delete, (yaml_event_t *event), (event)) \
    X(void, yaml_parser_delete, (yaml_parser_t *parser), (parser)) \
    X(int, yaml_parser_initialize, (yaml_parser_t *parser), (parser)) \
    X(int, yaml_parser_parse, (yaml_parser_t *parser, yaml_event_t *event), (parser, event)) \
    X(void, yaml_parser_set_encoding, (yaml_parser_t *parser, yaml_encoding_t encoding), (parser, encoding)) \
    X(void, yaml_parser_set_input_string, (yaml_parser_t *parser, const unsigned char *input, size_t size), (parser, input, size))

#define DEFINE(result, name, parameters, arguments) \
    static result(*cyaml_##name) parameters; \
    result name parameters { return cyaml_##name arguments; }
FUNCTIONS(DEFINE)

static const char *fault;

static void load(void) {
    // The soname of every libyaml since 0.1.4.
    void *library = dlopen("libyaml-0.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fault = "libyaml-0.so.2 cannot be loaded";
        return;
    }
#define LOAD(result, name, parameters, arguments) \
    if (!(cyaml_##name = (result(*) parameters)dlsym(library, #name))) fault = "libyaml-0.so.2 has no " #name;
    FUNCTIONS(LOAD)
}

const char *cyaml_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return fault;
}
