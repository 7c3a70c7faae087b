#ifndef FUZZ_SUPPORT_H
#define FUZZ_SUPPORT_H

#include <stdint.h>

/// Begins a measurement: what is allocated now counts as 0 bytes.
void heap_peak_start(void);

/// The largest number of bytes that were allocated at a time since `heap_peak_start`, of all threads.
int64_t heap_peak(void);

/// Counts an outcome as if it were code that the input has reached: libFuzzer keeps inputs with an outcome that is new.
void count_outcome(uint32_t hash);

#endif
