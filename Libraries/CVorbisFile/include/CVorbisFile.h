// libvorbisfile, loaded on demand. Only Plugins/Captures/File/Decoders/VorbisDecoder.swift imports this module.
#ifndef CVORBISFILE_H
#define CVORBISFILE_H

// Hidden: another library of the process that uses libvorbisfile must not find the functions of CVorbisFile.c.
#pragma GCC visibility push(hidden)
#include <vorbis/vorbisfile.h>

/// Loads libvorbisfile, unless it is loaded. After that, the functions of <vorbis/vorbisfile.h> listed in CVorbisFile.c can be called.
///
/// Returns NULL, or an error message. Thread-safe.
const char *cvorbisfile_load(void);
#pragma GCC visibility pop

#endif
