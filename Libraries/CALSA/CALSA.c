#include "CALSA.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The declarations of <alsa/seq.h> as far as they are used here: the header is not needed to build Hemiola. Events have the layout of
// struct snd_seq_event of the kernel (<sound/asequencer.h>), which cannot change.
typedef struct snd_seq snd_seq_t;
typedef struct {
    unsigned char client;
    unsigned char port;
} address_t;
typedef struct {
    unsigned char type;
    unsigned char flags;
    unsigned char tag;
    unsigned char queue;
    uint32_t time[2];
    address_t source;
    address_t destination;
    union {
        struct {
            unsigned char channel;
            unsigned char note;
            unsigned char velocity;
            unsigned char off_velocity;
            uint32_t duration;
        } note;
        struct {
            unsigned char channel;
            unsigned char unused[3];
            uint32_t parameter;
            int32_t value;
        } control;
    } data;
} event_t;
_Static_assert(sizeof(event_t) == 28, "event_size");

enum {
    OPEN_OUTPUT = 1,
    NONBLOCKING = 1,
    READABLE_BY_SUBSCRIBERS = 1 << 0 | 1 << 5,
    // MIDI_GENERIC, SOFTWARE, APPLICATION.
    PORT_TYPE = 1 << 1 | 1 << 17 | 1 << 20,
    QUEUE_DIRECT = 253,
    PORT_UNKNOWN = 253,
    SUBSCRIBERS = 254,
    NOTE_ON = 6,
    NOTE_OFF = 7,
    SONG_POSITION = 20,
    START = 30,
    CONTINUE = 31,
    STOP = 32,
    CLOCK = 36,
};

// X(result, name, (parameters))
#define FUNCTIONS(X) \
    X(int, snd_seq_open, (snd_seq_t * *handle, const char *name, int streams, int mode)) \
    X(int, snd_seq_close, (snd_seq_t * handle)) \
    X(int, snd_seq_set_client_name, (snd_seq_t * handle, const char *name)) \
    X(int, snd_seq_create_simple_port, (snd_seq_t * handle, const char *name, unsigned capabilities, unsigned type)) \
    X(int, snd_seq_parse_address, (snd_seq_t * handle, address_t * address, const char *text)) \
    X(int, snd_seq_connect_to, (snd_seq_t * handle, int port, int client, int other)) \
    X(int, snd_seq_event_output_direct, (snd_seq_t * handle, event_t * event)) \
    X(int, snd_lib_error_set_handler, (void (*handler)(const char *, int, const char *, int, const char *, ...))) \
    X(const char *, snd_strerror, (int number))

#define DEFINE(result, name, parameters) static result(*name) parameters;
FUNCTIONS(DEFINE)

static const char *fault;

// libasound prints errors on standard error by default. Hemiola reports them in its own messages.
static void ignore(const char *file, int line, const char *function, int number, const char *format, ...) {
    (void)file, (void)line, (void)function, (void)number, (void)format;
}

static void load(void) {
    // The soname of every libasound since 2001. Never unloaded.
    void *library = dlopen("libasound.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fault = "libasound.so.2 is not installed";
        return;
    }
#define LOAD(result, name, parameters) \
    if (!(name = (result(*) parameters)dlsym(library, #name))) fault = "libasound.so.2 lacks a function of the sequencer";
    FUNCTIONS(LOAD)
    if (!fault) snd_lib_error_set_handler(ignore);
}

struct calsa_port {
    snd_seq_t *sequencer;
    int port;
};

const char *calsa_open(const char *client, const char *destination, calsa_port **port, const char **detail) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *port = NULL;
    *detail = NULL;
    if (fault) return fault;
    snd_seq_t *sequencer = NULL;
    int code = snd_seq_open(&sequencer, "default", OPEN_OUTPUT, NONBLOCKING);
    if (code < 0) {
        *detail = snd_strerror(code);
        return "cannot open the ALSA sequencer";
    }
    const char *step = "cannot create a port of the ALSA sequencer";
    code = snd_seq_set_client_name(sequencer, client);
    int number = code < 0 ? code : snd_seq_create_simple_port(sequencer, client, READABLE_BY_SUBSCRIBERS, PORT_TYPE);
    code = number;
    if (code >= 0 && destination) {
        address_t address;
        step = "cannot find the destination";
        code = snd_seq_parse_address(sequencer, &address, destination);
        if (code >= 0) {
            step = "cannot connect to the destination";
            code = snd_seq_connect_to(sequencer, number, address.client, address.port);
        }
    }
    if (code >= 0) {
        *port = malloc(sizeof **port);
        if (*port) {
            **port = (calsa_port){sequencer, number};
            return NULL;
        }
        code = -ENOMEM;
    }
    *detail = snd_strerror(code);
    snd_seq_close(sequencer);
    return step;
}

int calsa_send(calsa_port *port, const unsigned char *message, int count) {
    event_t event = {0};
    event.queue = QUEUE_DIRECT;
    event.source.port = (unsigned char)port->port;
    event.destination = (address_t){SUBSCRIBERS, PORT_UNKNOWN};
    switch (message[0]) {
    case 0xF2:
        event.type = SONG_POSITION;
        event.data.control.value = count < 3 ? 0 : message[1] | message[2] << 7;
        break;
    case 0xF8: event.type = CLOCK; break;
    case 0xFA: event.type = START; break;
    case 0xFB: event.type = CONTINUE; break;
    case 0xFC: event.type = STOP; break;
    default:
        if (count < 3) return EINVAL;
        event.type = (message[0] & 0xF0) == 0x90 ? NOTE_ON : NOTE_OFF;
        event.data.note.channel = message[0] & 0x0F;
        event.data.note.note = message[1];
        event.data.note.velocity = message[2];
    }
    int code = snd_seq_event_output_direct(port->sequencer, &event);
    return code < 0 ? -code : 0;
}

void calsa_close(calsa_port *port) {
    snd_seq_close(port->sequencer);
    free(port);
}
