#include "CBuildRecord.h"

// Weak: packaging/build links an object file with these texts into the program. Without it, as in a plain `swift build`, their addresses
// are NULL. The texts are no compiler options, so that a new commit compiles nothing again.
extern const char hemiola_build_commit[] __attribute__((weak));
extern const char hemiola_build_swift[] __attribute__((weak));

const char *cbuildrecord_commit(void) { return hemiola_build_commit; }

const char *cbuildrecord_swift(void) { return hemiola_build_swift; }
