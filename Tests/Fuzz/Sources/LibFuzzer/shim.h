// libFuzzer as a library: https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library
#include <stddef.h>
#include <stdint.h>

/// Mutates an input in one of libFuzzer's own ways, and returns its new length.
size_t LLVMFuzzerMutate(uint8_t *_Nonnull data, size_t size, size_t max_size);

int LLVMFuzzerRunDriver(int *_Nonnull argc, char *_Nullable *_Nonnull *_Nonnull argv,
                        int (*_Nonnull test_one_input)(const uint8_t *_Nullable data, size_t size));
