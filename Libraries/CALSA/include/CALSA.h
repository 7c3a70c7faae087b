// The part of libasound that Hemiola uses: a port of the ALSA sequencer that sends MIDI messages. Loaded on demand, by `--sink midi:alsa`.
// Only Plugins/Sinks/Messages/MIDI/SequencerPort.swift imports this module.
#ifndef CALSA_H
#define CALSA_H

/// An open port of the sequencer.
typedef struct calsa_port calsa_port;

/// Creates a client of the sequencer with a port that others can read from.
///
/// - Parameters:
///   - client: The name of the client and of its port, terminated by a zero byte.
///   - destination: The port to connect to, as `128:0` or `NAME:0`; NULL: none, other programs connect.
///   - port: Receives the port, which the caller closes.
///   - detail: Receives a static text that describes the cause of an error; else NULL.
/// - Returns: NULL, or the step that failed. Not for use by several threads at the same time.
const char *calsa_open(const char *client, const char *destination, calsa_port **port, const char **detail);

/// Sends a message of 1.0 without waiting.
///
/// - Parameters:
///   - message: A note, a song position, a clock, or one of start, continue and stop.
///   - count: Its bytes, 1…3.
/// - Returns: 0, or an error number: EAGAIN if the receiver's queue is full.
int calsa_send(calsa_port *port, const unsigned char *message, int count);

/// Closes the port and frees it.
void calsa_close(calsa_port *port);

#endif
