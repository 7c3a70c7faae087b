// The functions of libmosquitto that Hemiola uses, under their own names: each calls through a pointer that is set by dlsym(3).
//
// Linked normally, libmosquitto would be loaded at every start, although only the sink `mqtt` needs it.
#include "CMosquitto.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef int password_callback(char *buffer, int size, int is_writing, void *data);

// X(result, name, (parameters), (arguments)). The compiler checks each against its declaration in the header.
#define FUNCTIONS(X) \
    X(int, mosquitto_will_set, (struct mosquitto *client, const char *topic, int length, const void *payload, int qos, bool retain), \
      (client, topic, length, payload, qos, retain)) \
    X(int, mosquitto_username_pw_set, (struct mosquitto *client, const char *user, const char *password), (client, user, password)) \
    X(int, mosquitto_tls_set, \
      (struct mosquitto *client, const char *ca_file, const char *ca_path, const char *cert_file, const char *key_file, \
       password_callback *callback), \
      (client, ca_file, ca_path, cert_file, key_file, callback)) \
    X(int, mosquitto_connect, (struct mosquitto *client, const char *host, int port, int keepalive), (client, host, port, keepalive)) \
    X(int, mosquitto_disconnect, (struct mosquitto *client), (client)) \
    X(int, mosquitto_publish, \
      (struct mosquitto *client, int *id, const char *topic, int length, const void *payload, int qos, bool retain), \
      (client, id, topic, length, payload, qos, retain)) \
    X(int, mosquitto_socket, (struct mosquitto *client), (client)) \
    X(int, mosquitto_loop, (struct mosquitto *client, int milliseconds, int packets), (client, milliseconds, packets)) \
    X(int, mosquitto_threaded_set, (struct mosquitto *client, bool threaded), (client, threaded)) \
    X(const char *, mosquitto_strerror, (int code), (code)) \
    X(const char *, mosquitto_connack_string, (int code), (code)) \
    X(void, mosquitto_destroy, (struct mosquitto *client), (client))

#define DEFINE(result, name, parameters, arguments) \
    static result(*c##name) parameters; \
    result name parameters { return c##name arguments; }
FUNCTIONS(DEFINE)

typedef void number_callback(struct mosquitto *client, void *events, int number);
typedef void log_callback(struct mosquitto *client, void *events, int level, const char *text);

static struct mosquitto *(*create)(const char *id, bool is_clean, void *events);
static void (*on_connect)(struct mosquitto *client, number_callback *callback);
static void (*on_publish)(struct mosquitto *client, number_callback *callback);
static void (*on_log)(struct mosquitto *client, log_callback *callback);
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
    create = (struct mosquitto * (*)(const char *, bool, void *)) dlsym(library, "mosquitto_new");
    on_connect = (void (*)(struct mosquitto *, number_callback *))dlsym(library, "mosquitto_connect_callback_set");
    on_publish = (void (*)(struct mosquitto *, number_callback *))dlsym(library, "mosquitto_publish_callback_set");
    on_log = (void (*)(struct mosquitto *, log_callback *))dlsym(library, "mosquitto_log_callback_set");
    int (*begin)(void) = (int (*)(void))dlsym(library, "mosquitto_lib_init");
    if (!create || !on_connect || !on_publish || !on_log || !begin) {
        fault = "libmosquitto.so.1 has no mosquitto_new, mosquitto_lib_init or callbacks";
        return;
    }
    if (!fault && begin() != CMOSQUITTO_SUCCESS) fault = "libmosquitto.so.1 cannot be initialized";
}

const char *cmosquitto_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return fault;
}

static void logged(struct mosquitto *client, void *events, int level, const char *text) {
    (void)client;
    // MOSQ_LOG_ERR.
    if (level == 8 && text) snprintf(((cmosquitto_events *)events)->error, sizeof((cmosquitto_events *)events)->error, "%s", text);
}

void cmosquitto_begin(struct mosquitto *client, cmosquitto_events *events) {
    events->connack = -1;
    events->error[0] = 0;
    on_log(client, logged);
}

static void connected(struct mosquitto *client, void *events, int code) {
    ((cmosquitto_events *)events)->connack = code;
    // Otherwise the library formats a line of text for each message that is published.
    if (code == 0) on_log(client, NULL);
}

static void published(struct mosquitto *client, void *events, int id) {
    (void)client;
    (void)id;
    ((cmosquitto_events *)events)->published += 1;
}

struct mosquitto *cmosquitto_new(cmosquitto_events *events) {
    memset(events, 0, sizeof *events);
    struct mosquitto *client = create(NULL, true, events);
    if (!client) return NULL;
    mosquitto_threaded_set(client, true);
    on_connect(client, connected);
    on_publish(client, published);
    cmosquitto_begin(client, events);
    return client;
}
