// libpulse, loaded on demand. Only Plugins/Captures/Pulse/Client/ imports this module.
#ifndef CPULSE_H
#define CPULSE_H

#include <pulse/pulseaudio.h>

/// Loads libpulse, unless it is loaded. After that, the functions of <pulse/pulseaudio.h> listed in CPulse.c can be called.
///
/// Returns NULL, or an error message. Thread-safe.
const char *cpulse_load(void);

#endif
