// What packaging/build records in the program. Only HemiolaCommandLine's ProgramBuild.swift imports this module.
#ifndef CBUILDRECORD_H
#define CBUILDRECORD_H

/// The commit that the program was built from, as `packaging/commit` prints it; NULL: not recorded.
const char *cbuildrecord_commit(void);

/// The version of the Swift compiler; NULL: not recorded.
const char *cbuildrecord_swift(void);

#endif
