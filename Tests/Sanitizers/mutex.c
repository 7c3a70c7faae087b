// Tells ThreadSanitizer about Swift's Mutex.
//
// Where a mutex is contended, Swift's library locks and unlocks it, through the kernel. That library is not instrumented, so
// the sanitizer sees no lock, and calls a race what the lock ordered. This is preloaded, stands before those two functions, and
// says what they do. The lock that is free is taken by instrumented code; the sanitizer knows both by the mutex's address.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Not there in the programs that have no sanitizer: a shell, Python.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

SWIFT void lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void unlock(SELF) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF) {
  typedef SWIFT void (*Method)(uint32_t thread, SELF);
  ((Method)dlsym(RTLD_NEXT, LOCK))(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void unlock(SELF) {
  typedef SWIFT void (*Method)(SELF);
  if (__tsan_release) __tsan_release(self);
  ((Method)dlsym(RTLD_NEXT, UNLOCK))(self);
}
