// Annotates Swift's Mutex for ThreadSanitizer.
//
// A contended mutex is locked and unlocked by the Swift library, with futex system calls. The library is not instrumented, so
// the sanitizer does not see these operations and reports false races. This library is preloaded: it wraps the two functions and
// reports acquire and release. An uncontended mutex is locked by instrumented code; both paths use the mutex's address.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Weak: programs without the sanitizer, such as a shell or Python, do not define them.
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
