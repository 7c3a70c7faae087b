#include "CBeatWeights.h"

// Products and sums are rounded one by one, so that every processor computes the same bits.
#pragma STDC FP_CONTRACT OFF

typedef float lanes __attribute__((vector_size(32), aligned(4), may_alias));

// The frames `frame` and `other`, which share each weight that is loaded. Even and odd values of a run are added separately: the processor
// need not wait for one addition before it begins the next.
static inline __attribute__((always_inline)) void
pair(const cbeatweights_convolution *c, const float *bias, const float *weight, const float *memory, const int *inputs, int row, int frame, int other,
     float *output, float *other_output) {
    lanes even = *(const lanes *)bias, odd = {0}, other_even = even, other_odd = {0};
    for (int tap = 0; tap < c->taps; tap++) {
        const float *a = memory + inputs[frame * c->taps + tap] + row * c->step;
        const float *b = memory + inputs[other * c->taps + tap] + row * c->step;
        for (int index = 0; index < c->run; index += 2, weight += 16) {
            lanes first = *(const lanes *)weight, second = *(const lanes *)(weight + 8);
            even += a[index] * first;
            odd += a[index + 1] * second;
            other_even += b[index] * first;
            other_odd += b[index + 1] * second;
        }
    }
    *(lanes *)output = even + odd;
    *(lanes *)other_output = other_even + other_odd;
}

// On x86, once for processors with AVX2, where it takes half of the time, and once for all others.
#ifdef __x86_64__
__attribute__((target_clones("avx2", "default")))
#endif
void cbeatweights_convolve(const cbeatweights_convolution *c, const float *weights, float *memory, const int *inputs, const int *outputs, int frames) {
    for (int row = 0; row < c->rows; row++) {
        for (int vector = 0; vector < c->vectors; vector++) {
            const float *weight = weights + 8 * (c->vectors + vector * c->taps * c->run);
            int place = 8 * (row * c->vectors + vector);
            for (int frame = 0; frame < frames; frame += 2) {
                // The last one of an odd number is computed twice.
                int other = frame + 1 < frames ? frame + 1 : frame;
                pair(c, weights + 8 * vector, weight, memory, inputs, row, frame, other, memory + outputs[frame] + place,
                     memory + outputs[other] + place);
            }
        }
    }
}
