// libFLAC 1.4 and later, loaded on demand. Only Plugins/Captures/File/Decoders/FLACDecoder.swift imports this module.
#ifndef CFLAC_H
#define CFLAC_H

// libFLAC's header includes it, and its functions are not to be hidden.
#include <stdio.h>

// Hidden: another library of the process that uses libFLAC must not find the functions of CFLAC.c.
#pragma GCC visibility push(hidden)
#include <FLAC/stream_decoder.h>

/// Loads libFLAC, unless it is loaded. After that, the functions of <FLAC/stream_decoder.h> listed in CFLAC.c can be called.
///
/// Returns NULL, or an error message. Thread-safe.
const char *cflac_load(void);
#pragma GCC visibility pop

#endif
