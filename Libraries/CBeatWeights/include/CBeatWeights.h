// The weights of the beat networks, compiled into the program: the format is described in Training/FEATURES.md.
// `make -C Training weights` replaces the files. Only Plugins/Analyzers/Beat/NetworkWeights.swift imports this module.
#ifndef CBEATWEIGHTS_H
#define CBEATWEIGHTS_H

#include <stddef.h>

/// The contents of a weights file.
typedef struct {
    const unsigned char *bytes;
    size_t count;
} cbeatweights_file;

/// The network for live audio, which reads no frame after the current one.
cbeatweights_file cbeatweights_causal(void);

/// The network for whole files.
cbeatweights_file cbeatweights_whole_file(void);

#endif
