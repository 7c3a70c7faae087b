// libmosquitto 1.5 and later, loaded on demand. Only Plugins/Sinks/Messages/MQTT/MosquittoClient.swift imports this module.
//
// The declarations of <mosquitto.h> are repeated as far as they are used here: the header is not needed to build Hemiola. They have been
// the same since version 1.0.
#ifndef CMOSQUITTO_H
#define CMOSQUITTO_H

#include <stdbool.h>

// Hidden: another library of the process that uses libmosquitto must not find the functions of CMosquitto.c.
#pragma GCC visibility push(hidden)

struct mosquitto;

/// Results of the functions that return an int: enum mosq_err_t.
enum {
    CMOSQUITTO_SUCCESS = 0,
    CMOSQUITTO_NO_CONN = 4,
    /// errno has the cause.
    CMOSQUITTO_ERRNO = 14,
    /// The broker has not answered for the keep-alive time.
    CMOSQUITTO_KEEPALIVE = 19,
};

/// What the broker has answered, written by the callbacks of a client, on the thread that calls mosquitto_loop.
typedef struct {
    /// The code of the last CONNACK packet, 0 = accepted; -1: none since it was set.
    int connack;
    /// Messages that were written (QoS 0) or acknowledged, since it was set to 0.
    int published;
    /// The last message of the library that was an error since the last attempt to connect began; empty: none.
    char error[200];
} cmosquitto_events;

/// Loads libmosquitto, unless it is loaded. After that, the functions below can be called.
///
/// Returns NULL, or an error message. Thread-safe.
const char *cmosquitto_load(void);

/// A client with a random id, whose callbacks write to events; NULL: out of memory. One thread connects and calls mosquitto_loop; others
/// may publish and disconnect at the same time.
struct mosquitto *cmosquitto_new(cmosquitto_events *events);

/// Prepares events for an attempt to connect. Errors of the library are written to them until the broker has accepted the connection.
void cmosquitto_begin(struct mosquitto *client, cmosquitto_events *events);

void mosquitto_destroy(struct mosquitto *client);
int mosquitto_will_set(struct mosquitto *client, const char *topic, int length, const void *payload, int qos, bool retain);
int mosquitto_username_pw_set(struct mosquitto *client, const char *user, const char *password);
int mosquitto_tls_set(
    struct mosquitto *client, const char *ca_file, const char *ca_path, const char *cert_file, const char *key_file,
    int (*password_callback)(char *buffer, int size, int is_writing, void *data));
int mosquitto_connect(struct mosquitto *client, const char *host, int port, int keepalive);
int mosquitto_disconnect(struct mosquitto *client);
int mosquitto_publish(
    struct mosquitto *client, int *id, const char *topic, int length, const void *payload, int qos, bool retain);
int mosquitto_socket(struct mosquitto *client);
int mosquitto_loop(struct mosquitto *client, int milliseconds, int packets);
int mosquitto_threaded_set(struct mosquitto *client, bool threaded);
const char *mosquitto_strerror(int code);
const char *mosquitto_connack_string(int code);
#pragma GCC visibility pop

#endif
