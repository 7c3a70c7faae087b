// The functions of libmosquitto that Hemiola uses, under their own names: each calls through a pointer that is set by dlsym(3).
//
// Linked normally, libmosquitto would be loaded at every start, although only the sink `mqtt` needs it.
#include "CMosquitto.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

// X(result, name, (parameters), (arguments)). The compiler checks each against its declaration in the header.
#define FUNCTIONS(X) \
    X(struct mosquitto *, mosquitto_new, (const char *id, bool is_clean, void *data), (id, is_clean, data)) \
    X(void, mosquitto_destroy, (struct mosquitto *client), (client)) \
    X(void, mosquitto_user_data_set, (struct mosquitto *client, void *data), (client, data)) \
    X(int, mosquitto_threaded_set, (struct mosquitto *client, bool threaded), (client, threaded)) \
    X(int, mosquitto_int_option, (struct mosquitto *client, int option, int value), (client, option, value)) \
    X(int, mosquitto_will_set, (struct mosquitto *client, const char *topic, int length, const void *payload, int qos, bool retain), \
      (client, topic, length, payload, qos, retain)) \
    X(int, mosquitto_username_pw_set, (struct mosquitto *client, const char *user, const char *password), (client, user, password)) \
    X(int, mosquitto_tls_set, \
      (struct mosquitto *client, const char *ca_file, const char *ca_path, const char *cert_file, const char *key_file, \
       cmosquitto_on_password *callback), \
      (client, ca_file, ca_path, cert_file, key_file, callback)) \
    X(void, mosquitto_connect_callback_set, (struct mosquitto *client, cmosquitto_on_number *callback), (client, callback)) \
    X(void, mosquitto_publish_callback_set, (struct mosquitto *client, cmosquitto_on_number *callback), (client, callback)) \
    X(void, mosquitto_log_callback_set, (struct mosquitto *client, cmosquitto_on_log *callback), (client, callback)) \
    X(int, mosquitto_connect_async, (struct mosquitto *client, const char *host, int port, int keepalive), \
      (client, host, port, keepalive)) \
    X(int, mosquitto_disconnect, (struct mosquitto *client), (client)) \
    X(int, mosquitto_publish, \
      (struct mosquitto *client, int *id, const char *topic, int length, const void *payload, int qos, bool retain), \
      (client, id, topic, length, payload, qos, retain)) \
    X(int, mosquitto_loop, (struct mosquitto *client, int milliseconds, int packets), (client, milliseconds, packets)) \
    X(const char *, mosquitto_strerror, (int code), (code)) \
    X(const char *, mosquitto_connack_string, (int code), (code))

#define DEFINE(result, name, parameters, arguments) \
    static result(*c##name) parameters; \
    result name parameters { return c##name arguments; }
FUNCTIONS(DEFINE)

static const char *fault;

static void load(void) {
    // The soname of every version since 1.0. Never unloaded.
    void *library = dlopen("libmosquitto.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fault = "libmosquitto.so.1 cannot be loaded";
        return;
    }
#define LOAD(result, name, parameters, arguments) \
    if (!(c##name = (result(*) parameters)dlsym(library, #name))) fault = "libmosquitto.so.1 has no " #name;
    FUNCTIONS(LOAD)
    int (*begin)(void) = (int (*)(void))dlsym(library, "mosquitto_lib_init");
    if (!fault && (!begin || begin() != 0)) fault = "libmosquitto.so.1 cannot be initialized";
}

const char *cmosquitto_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return fault;
}
