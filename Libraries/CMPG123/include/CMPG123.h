// libmpg123 1.27 and later, loaded on demand. Only MPEGDecoder.swift and ID3Tags.swift of Plugins/Captures/File/Decoders import it.
#ifndef CMPG123_H
#define CMPG123_H

// Included by <mpg123.h>, and not to be hidden.
#include <stdlib.h>
#include <sys/types.h>

// Hidden: another library of the process that uses libmpg123 must not find the functions of CMPG123.c.
#pragma GCC visibility push(hidden)
// The names that versions before 1.31 have too.
#define MPG123_ENUM_API
#include <mpg123.h>

/// Loads libmpg123, unless it is loaded. After that, the functions of <mpg123.h> listed in CMPG123.c can be called.
///
/// Returns NULL, or an error message. Thread-safe.
const char *cmpg123_load(void);
#pragma GCC visibility pop

#endif
