// The packages from which `hemiola plugins new` makes others. Only Describe/PluginTemplate.swift of the command line imports this module.
#ifndef CPLUGINEXAMPLES_H
#define CPLUGINEXAMPLES_H

#include <stddef.h>

/// A file of a package.
typedef struct {
    /// Its path in examples/custom-plugin; NULL: there is no file of this number.
    const char *path;
    const unsigned char *bytes;
    size_t count;
} cpluginexamples_file;

/// The file of a number, 0….
cpluginexamples_file cpluginexamples_file_at(unsigned number);

#endif
