// The field maps that are compiled into the program. Only HemiolaFieldMaps/FieldMap+BuiltIn.swift imports this module.
#ifndef CFIELDMAPS_H
#define CFIELDMAPS_H

#include <stdbool.h>
#include <stddef.h>

/// A field map.
typedef struct {
    /// Its name; NULL: there is no map of this number.
    const char *name;
    const unsigned char *bytes;
    size_t count;
    /// Whether it is a map of controls.
    bool is_input;
} cfieldmaps_map;

/// The map of a number, 0….
cfieldmaps_map cfieldmaps_map_at(unsigned number);

#endif
