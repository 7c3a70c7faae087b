// Replaces the functions of the memory allocator and counts the calls, per thread.
//
// glibc also exports its allocator as __libc_*, so that dlsym, which allocates memory itself, is not required.
// Without these functions (musl, a sanitizer), nothing is replaced and the count stays 0.

#define _GNU_SOURCE
#include "AllocationCounter.h"

#include <errno.h>
#include <stddef.h>

static __thread uint64_t count;
static __thread int traces_left;

uint64_t allocation_count(void) { return count; }

void allocation_trace(int limit) { traces_left = limit; }

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED
#endif
#endif

#if defined(__GLIBC__) && !defined(IS_SANITIZED)

#include <execinfo.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

enum { DEPTH = 24, CAPACITY = 64 };
static struct { void *frames[DEPTH]; int depth; } traces[CAPACITY];
static int trace_count;

static void note(void) {
  count += 1;
  if (traces_left > 0) {
    int left = traces_left;
    // backtrace allocates on its first call: it must not be traced itself.
    traces_left = 0;
    int place = __sync_fetch_and_add(&trace_count, 1);
    if (place < CAPACITY) traces[place].depth = backtrace(traces[place].frames, DEPTH);
    traces_left = left - 1;
  }
}

void allocation_report(void) {
  int filled = trace_count < CAPACITY ? trace_count : CAPACITY;
  for (int index = 0; index < filled; index++) {
    backtrace_symbols_fd(traces[index].frames, traces[index].depth, STDERR_FILENO);
    (void)!write(STDERR_FILENO, "\n", 1);
  }
  trace_count = 0;
}

void *malloc(size_t size) {
  note();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  note();
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  note();
  return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **place, size_t alignment, size_t size) {
  note();
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *place = memory;
  return 0;
}

#else

void allocation_report(void) {}

#endif
