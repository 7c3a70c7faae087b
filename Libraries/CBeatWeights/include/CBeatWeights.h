// The weights of the beat networks, compiled into the program: the format is described in Training/FEATURES.md.
// `make -C Training weights` replaces the files. And the convolution of these networks, in C because its compiler can make two versions of
// a function, of which the processor gets the one it can run. Only the analyzer `beat` imports this module.
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

/// The network of kick, snare and hi-hat, which reads no frame after the current one.
cbeatweights_file cbeatweights_drums(void);

/// A convolution over `taps` frames: `rows` rows of 8 · `vectors` outputs, each computed from `run` consecutive values of these frames. `run`
/// is even, and the runs of neighbouring rows begin `step` values apart.
typedef struct {
    int taps, run, step, rows, vectors;
} cbeatweights_convolution;

/// Computes some frames of outputs.
///
/// weights: the biases [vector][8], then the weights [vector][tap][value of the run][8].
/// memory: has inputs and outputs, which do not overlap. inputs [frame][tap] and outputs [frame] are the places of their first values.
void cbeatweights_convolve(const cbeatweights_convolution *convolution, const float *weights, float *memory, const int *inputs,
                           const int *outputs, int frames);

#endif
