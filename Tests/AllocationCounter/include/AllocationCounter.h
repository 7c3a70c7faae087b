#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdint.h>

/// Allocations (malloc, calloc, realloc, posix_memalign, aligned_alloc, memalign) that this thread has made so far.
uint64_t allocation_count(void);

/// From now on the next allocations of this thread, at most `limit` of them, leave their backtraces; 0 ends it.
void allocation_trace(int limit);

/// Writes the backtraces that were left by any thread to standard error and forgets them.
void allocation_report(void);

#endif
