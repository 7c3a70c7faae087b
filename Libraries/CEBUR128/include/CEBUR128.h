// libebur128 1.2.4 and later, loaded on demand. Only Plugins/Analyzers/Loudness/WeightedEnergy.swift imports this module.
#ifndef CEBUR128_H
#define CEBUR128_H

// Hidden: another library of the process that uses libebur128 must not find the functions of CEBUR128.c.
#pragma GCC visibility push(hidden)
#include <ebur128.h>

/// Loads libebur128, unless it is loaded. After that, the functions of <ebur128.h> listed in CEBUR128.c can be called.
///
/// Returns NULL, or an error message. Thread-safe.
const char *cebur128_load(void);
#pragma GCC visibility pop

#endif
