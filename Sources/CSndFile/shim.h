// libsndfile. Only Plugins/Captures/File/SoundFile.swift touches these names.
#include <sndfile.h>
