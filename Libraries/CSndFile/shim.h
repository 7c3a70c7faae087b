// libsndfile. Only Plugins/Captures/File/Decoders/SndFileDecoder.swift and Plugins/Sinks/Files/Audio/SoundFileEncoder.swift import this module.
#include <sndfile.h>
