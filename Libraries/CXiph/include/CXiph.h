// libogg, libvorbis and libopus, loaded on demand. Only the Ogg decoders in Plugins/Captures/File/Decoders import this module.
#ifndef CXIPH_H
#define CXIPH_H

// Hidden: another library of the process that uses these libraries must not find the functions of CXiph.c.
#pragma GCC visibility push(hidden)
#include <ogg/ogg.h>
#include <opus/opus_multistream.h>
#include <vorbis/codec.h>

/// Loads the libraries, unless they are loaded. After that, the functions listed in CXiph.c and the one below can be called.
///
/// Returns NULL, or the file name of a library that is missing or lacks a function. Thread-safe.
const char *cxiph_load(void);

/// Sets the gain of the output in 1/256 dB. Returns OPUS_OK, or an error.
int cxiph_set_gain(OpusMSDecoder *decoder, int gain);
#pragma GCC visibility pop

#endif
