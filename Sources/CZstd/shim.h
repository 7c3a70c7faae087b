// Zstandard, the stable part of its interface (1.4 and later). Only HemiolaOutput/ZstdStream.swift touches these names.
#include <zstd.h>
