#include "CFieldMaps.h"

// `#embed` is standard since C23; clang has it in earlier versions of the language too.
#pragma clang diagnostic ignored "-Wc23-extensions"

// A test compares the list with the folder Maps.
static const unsigned char midi[] = {
#embed "Maps/midi.yaml"
};
static const unsigned char qlcplus[] = {
#embed "Maps/qlcplus.yaml"
};
static const unsigned char resolume[] = {
#embed "Maps/resolume.yaml"
};
static const unsigned char synesthesia[] = {
#embed "Maps/synesthesia.yaml"
};
static const unsigned char touchdesigner[] = {
#embed "Maps/touchdesigner.yaml"
};

static const cfieldmaps_map maps[] = {
    {"midi", midi, sizeof midi, true},
    {"qlcplus", qlcplus, sizeof qlcplus, false},
    {"resolume", resolume, sizeof resolume, false},
    {"synesthesia", synesthesia, sizeof synesthesia, false},
    {"touchdesigner", touchdesigner, sizeof touchdesigner, false},
};

cfieldmaps_map cfieldmaps_map_at(unsigned number) {
    if (number < sizeof maps / sizeof *maps) return maps[number];
    return (cfieldmaps_map){NULL, NULL, 0, false};
}
