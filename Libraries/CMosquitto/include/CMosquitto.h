// libmosquitto 1.6 and later, loaded on demand. Only Plugins/Sinks/Messages/MQTT/MQTTConnection.swift imports this module.
//
// The declarations of <mosquitto.h> are repeated as far as they are used here: the header is not needed to build Hemiola.
#ifndef CMOSQUITTO_H
#define CMOSQUITTO_H

#include <stdbool.h>
#include <stdint.h>

// Hidden: another library of the process that uses libmosquitto must not find the functions of CMosquitto.c.
#pragma GCC visibility push(hidden)

struct mosquitto;

/// Results of the functions that return an int, of enum mosq_err_t; 0 is success.
static const int32_t CMOSQUITTO_NO_CONN = 4;
/// errno has the cause.
static const int32_t CMOSQUITTO_ERRNO = 14;
/// The broker has not answered for the keep-alive time.
static const int32_t CMOSQUITTO_KEEPALIVE = 19;
/// A level of the log.
static const int32_t CMOSQUITTO_LOG_ERR = 8;
/// An option since version 2.0; earlier ones refuse it.
static const int32_t CMOSQUITTO_TCP_NODELAY = 11;

typedef int cmosquitto_on_password(char *buffer, int size, int is_writing, void *data);
typedef void cmosquitto_on_number(struct mosquitto *client, void *data, int number);
typedef void cmosquitto_on_log(struct mosquitto *client, void *data, int level, const char *text);

/// Loads libmosquitto, unless it is loaded. After that, the functions below can be called.
///
/// Returns NULL, or an error message. Thread-safe.
const char *cmosquitto_load(void);

struct mosquitto *mosquitto_new(const char *id, bool is_clean, void *data);
void mosquitto_destroy(struct mosquitto *client);
void mosquitto_user_data_set(struct mosquitto *client, void *data);
int mosquitto_threaded_set(struct mosquitto *client, bool threaded);
int mosquitto_int_option(struct mosquitto *client, int option, int value);
int mosquitto_will_set(struct mosquitto *client, const char *topic, int length, const void *payload, int qos, bool retain);
int mosquitto_username_pw_set(struct mosquitto *client, const char *user, const char *password);
int mosquitto_tls_set(
    struct mosquitto *client, const char *ca_file, const char *ca_path, const char *cert_file, const char *key_file,
    cmosquitto_on_password *callback);
void mosquitto_connect_callback_set(struct mosquitto *client, cmosquitto_on_number *callback);
void mosquitto_publish_callback_set(struct mosquitto *client, cmosquitto_on_number *callback);
void mosquitto_log_callback_set(struct mosquitto *client, cmosquitto_on_log *callback);
int mosquitto_connect_async(struct mosquitto *client, const char *host, int port, int keepalive);
int mosquitto_disconnect(struct mosquitto *client);
int mosquitto_publish(
    struct mosquitto *client, int *id, const char *topic, int length, const void *payload, int qos, bool retain);
int mosquitto_loop(struct mosquitto *client, int milliseconds, int packets);
const char *mosquitto_strerror(int code);
const char *mosquitto_connack_string(int code);
#pragma GCC visibility pop

#endif
