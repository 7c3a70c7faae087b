// libyaml, loaded on demand. Only HemiolaFieldMaps/YAMLEventReader.swift imports this module.
#ifndef CYAML_H
#define CYAML_H

// The headers that yaml.h includes: their functions are not hidden.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Hidden: another library of the process that uses libyaml must not find the functions of CYAML.c.
#pragma GCC visibility push(hidden)
#include <yaml.h>

/// Loads libyaml, unless it is loaded. After that, the functions of <yaml.h> listed in CYAML.c can be called.
///
/// Returns NULL, or an error message. Thread-safe.
const char *cyaml_load(void);
#pragma GCC visibility pop

#endif
