// The files of the built-in web page, compiled into the program. Only Sources/HemiolaBridge/Web/PageFiles.swift imports this module.
#ifndef CWEBPAGE_H
#define CWEBPAGE_H

#include <stddef.h>

/// A file of the page.
typedef struct {
    /// Its path in Plugins/Sinks/Visualizers/Web/Page; NULL: there is no file of this number.
    const char *path;
    const unsigned char *bytes;
    size_t count;
} cwebpage_file;

/// The file of a number, 0….
cwebpage_file cwebpage_file_at(unsigned number);

#endif
