// Zstandard, the stable part of its interface (1.4 and later), loaded on demand. Only HemiolaFiles/ZstdStream.swift imports this
// module.
#ifndef CZSTD_H
#define CZSTD_H

// Hidden: another library of the process that uses Zstandard must not find the functions of CZstd.c. The second name is that of
// versions before 1.5.
#define ZSTDLIB_VISIBLE __attribute__((visibility("hidden")))
#define ZSTDLIB_VISIBILITY __attribute__((visibility("hidden")))
#include <zstd.h>

/// Loads Zstandard, unless it is loaded. After that, the functions of <zstd.h> listed in CZstd.c can be called.
///
/// Returns NULL, or an error message. Thread-safe.
ZSTDLIB_VISIBLE const char *czstd_load(void);

#endif
