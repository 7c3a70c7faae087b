// Functions that need the runtime of libFuzzer and of the sanitizers.

#include "FuzzSupport.h"

#include <stddef.h>

// Declared in <sanitizer/allocator_interface.h>.
extern int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t), void (*)(const volatile void *));
extern size_t __sanitizer_get_allocated_size(const volatile void *);

// Bytes allocated with malloc, by Swift and by system libraries.
static int64_t live, peak;
static int is_installed;

static void note_malloc(const volatile void *pointer, size_t size) {
  (void)pointer;
  int64_t now = __atomic_add_fetch(&live, (int64_t)size, __ATOMIC_RELAXED);
  int64_t before = __atomic_load_n(&peak, __ATOMIC_RELAXED);
  while (now > before && !__atomic_compare_exchange_n(&peak, &before, now, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

static void note_free(const volatile void *pointer) {
  if (pointer) __atomic_sub_fetch(&live, (int64_t)__sanitizer_get_allocated_size(pointer), __ATOMIC_RELAXED);
}

void heap_peak_start(void) {
  if (!is_installed) is_installed = __sanitizer_install_malloc_and_free_hooks(note_malloc, note_free) != 0;
  __atomic_store_n(&live, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&peak, 0, __ATOMIC_RELAXED);
}

int64_t heap_peak(void) { return __atomic_load_n(&peak, __ATOMIC_RELAXED); }

// libFuzzer reads and clears this section with the counters of the compiled code.
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t outcomes[1024];

void count_outcome(uint32_t hash) { outcomes[hash % sizeof outcomes] = 1; }
