// libmpg123, loaded on demand. Only Plugins/Captures/File/Decoders/MPEGDecoder.swift imports this module.
#ifndef CMPG123_H
#define CMPG123_H

// Hidden: another library of the process that uses libmpg123 must not find the functions of CMPG123.c.
#pragma GCC visibility push(hidden)
#include <mpg123.h>

/// Loads libmpg123, unless it is loaded. After that, the functions of <mpg123.h> listed in CMPG123.c can be called.
///
/// Returns NULL, or an error message. Thread-safe.
const char *cmpg123_load(void);
#pragma GCC visibility pop

#endif
