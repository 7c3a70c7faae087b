// The part of libarchive that Hemiola uses, loaded on demand: only `hemiola presets add` reads archives. Only
// Sources/HemiolaCommandLine/Presets/Archive.swift imports this module.
#ifndef CARCHIVE_H
#define CARCHIVE_H

#include <stddef.h>
#include <stdint.h>

typedef struct carchive carchive;

/// Opens an archive: tar, zip or 7z, and what gzip, bzip2, xz or zstd made of it.
///
/// - Parameter archive: Receives the archive, which `carchive_close` frees. On failure too, unless it is NULL.
/// - Returns: NULL, or an error message, which is valid until `carchive_close`.
const char *carchive_open(const char *path, carchive **archive);

/// Moves to the next regular file.
///
/// - Parameters:
///   - name: Receives its path in the archive, which is valid until the next call.
///   - fault: Receives an error message, or NULL.
/// - Returns: Whether there is one.
int carchive_next(carchive *archive, const char **name, const char **fault);

/// Reads bytes of the current file.
///
/// - Returns: Their number; 0 at its end, negative where the archive is damaged.
long carchive_read(carchive *archive, void *bytes, size_t count);

void carchive_close(carchive *archive);

#endif
