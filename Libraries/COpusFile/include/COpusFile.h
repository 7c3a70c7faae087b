// The part of libopusfile's interface (0.12, soname 0) that Hemiola uses, loaded on demand. Declared here because <opusfile.h> needs a search
// path of its own. Only Plugins/Captures/File/Decoders/OpusDecoder.swift imports this module.
#ifndef COPUSFILE_H
#define COPUSFILE_H

// Hidden: another library of the process that uses libopusfile must not find the functions of COpusFile.c.
#pragma GCC visibility push(hidden)
/// Loads libopusfile, unless it is loaded. After that, the functions below can be called.
///
/// Returns NULL, or an error message. Thread-safe.
const char *copusfile_load(void);
#pragma GCC visibility pop

#endif
