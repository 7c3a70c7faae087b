#include "CBeatWeights.h"

// Products and sums are rounded one by one, so that every processor computes the same bits.
#pragma STDC FP_CONTRACT OFF

// Two versions of a function, of which the program's start chooses one, need an x86 processor and glibc.
#if defined(__x86_64__) && __has_include(<gnu/libc-version.h>)
#define WITH_AVX2_TOO __attribute__((target_clones("avx2", "default")))
#else
#define WITH_AVX2_TOO
#endif

typedef float lanes __attribute__((vector_size(32), aligned(4), may_alias));

// Eight outputs of one row, of two frames, which share each weight that is loaded. `first` and `second` are the places of the frames' inputs in
// `memory`, one for each tap. Even and odd values of a run are added separately: the processor need not wait for one addition before it begins
// the next.
static inline __attribute__((always_inline)) void
convolve_two_frames(const cbeatweights_convolution *convolution, const float *bias, const float *weight, const float *memory, const int *first,
                    const int *second, float *first_output, float *second_output) {
    lanes first_even = *(const lanes *)bias, second_even = first_even, first_odd = {0}, second_odd = {0};
    for (int tap = 0; tap < convolution->taps; tap++) {
        const float *a = memory + first[tap], *b = memory + second[tap];
        for (int index = 0; index < convolution->run; index += 2, weight += 16) {
            lanes even = *(const lanes *)weight, odd = *(const lanes *)(weight + 8);
            first_even += a[index] * even;
            first_odd += a[index + 1] * odd;
            second_even += b[index] * even;
            second_odd += b[index + 1] * odd;
        }
    }
    *(lanes *)first_output = first_even + first_odd;
    *(lanes *)second_output = second_even + second_odd;
}

// With AVX2 it takes half of the time.
WITH_AVX2_TOO void cbeatweights_convolve(const cbeatweights_convolution *convolution, const float *weights, float *memory, const int *inputs,
                                         const int *outputs, int frames) {
    int taps = convolution->taps, vectors = convolution->vectors;
    for (int row = 0; row < convolution->rows; row++) {
        for (int vector = 0; vector < vectors; vector++) {
            const float *weight = weights + 8 * (vectors + vector * taps * convolution->run);
            int place = 8 * (row * vectors + vector);
            for (int frame = 0; frame < frames; frame += 2) {
                // The last one of an odd number is computed twice.
                int other = frame + 1 < frames ? frame + 1 : frame;
                convolve_two_frames(convolution, weights + 8 * vector, weight, memory + row * convolution->step, inputs + frame * taps,
                                    inputs + other * taps, memory + outputs[frame] + place, memory + outputs[other] + place);
            }
        }
    }
}
