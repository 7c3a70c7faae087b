#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdint.h>

/// Allocations (malloc, calloc, realloc, posix_memalign, aligned_alloc, memalign) that this thread has made so far.
uint64_t allocation_count(void);

/// Stores the backtraces of the next allocations of this thread, at most `limit`; 0 disables it.
void allocation_trace(int limit);

/// Writes the stored backtraces of all threads to standard error and deletes them.
void allocation_report(void);

#endif
