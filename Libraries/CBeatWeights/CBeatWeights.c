#include "CBeatWeights.h"

// `#embed` is standard since C23; clang has it in earlier versions of the language too.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char causal[] = {
#embed "beats-causal.bin"
};

static const unsigned char whole_file[] = {
#embed "beats-whole-file.bin"
};

static const unsigned char drums[] = {
#embed "drums.bin"
};

cbeatweights_file cbeatweights_causal(void) {
    return (cbeatweights_file){causal, sizeof causal};
}

cbeatweights_file cbeatweights_whole_file(void) {
    return (cbeatweights_file){whole_file, sizeof whole_file};
}

cbeatweights_file cbeatweights_drums(void) {
    return (cbeatweights_file){drums, sizeof drums};
}
