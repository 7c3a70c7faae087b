// libsndfile. Only Plugins/Captures/File/Decoders/SndFileDecoder.swift and Plugins/Sinks/Files/Audio/FLACEncoder.swift import this module.
#include <sndfile.h>
