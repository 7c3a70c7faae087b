// Ableton Link (https://www.ableton.com/link), from its C++ headers: the tempo and the beats that programs in a network share.
//
// Times are in seconds of CLOCK_MONOTONIC. All functions but clink_open and clink_close can be called on any thread at any time; no
// function throws. Each session has a thread, sockets on every network interface, and a clock of its own (CLOCK_MONOTONIC_RAW); the
// two clocks are compared at each call.

#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clink_session clink_session;

// The state of a session at a time.
typedef struct {
    double tempo;    // in BPM
    double beat;     // at the time; its remainder by the quantum is the same for all peers
    bool isPlaying;  // start and stop, which peers share only if the session was opened so
} clink_state;

// Joins the session of the network, or begins one, after a delay in seconds. Returns NULL at once, or why there is none, in one line.
const char *clink_open(double tempo, bool sharesStart, double delay, clink_session **session);

// Leaves the session, and ends its threads. Takes some milliseconds.
void clink_close(clink_session *session);

// The number of other peers. Does not block.
size_t clink_peers(const clink_session *session);

// Reads the state at a time.
clink_state clink_read(const clink_session *session, double time, double quantum);

// Sets the tempo, in 20...999 BPM, and the beat at a time, for all peers.
void clink_write(clink_session *session, double tempo, double beat, double time, double quantum);

// Starts or stops at a time.
void clink_play(clink_session *session, bool isPlaying, double time);

#ifdef __cplusplus
}
#endif
