// A library for LD_PRELOAD, without functions of its own.
