// libpulse, loaded when it is first needed. Only Plugins/Captures/Pulse/Client/ touches these names.
#ifndef CPULSE_H
#define CPULSE_H

#include <pulse/pulseaudio.h>

/// Loads the library; once it is loaded, does nothing. The functions of <pulse/pulseaudio.h> that CPulse.c lists work from then on.
///
/// Returns NULL, or what the loader says. Thread-safe.
const char *cpulse_load(void);

#endif
