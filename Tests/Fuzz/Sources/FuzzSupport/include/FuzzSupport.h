#ifndef FUZZ_SUPPORT_H
#define FUZZ_SUPPORT_H

#include <stdint.h>

/// Starts a measurement: memory that is allocated before the call is not counted.
void heap_peak_start(void);

/// The largest number of bytes that were allocated at a time since `heap_peak_start`, of all threads.
int64_t heap_peak(void);

/// Counts an outcome as covered code: libFuzzer keeps inputs that have a new outcome.
void count_outcome(uint32_t hash);

#endif
