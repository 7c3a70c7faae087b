// The functions of libFLAC that Hemiola uses, under their own names: each calls through a pointer that is set by dlsym(3).
#define _GNU_SOURCE
#include "CFLAC.h"

#include <dlfcn.h>
#include <pthread.h>

// X(result, name, (parameters), (arguments)). The compiler checks each against its declaration in the header.
#define FUNCTIONS(X) \
    X(FLAC__StreamDecoder *, FLAC__stream_decoder_new, (void), ()) \
    X(void, FLAC__stream_decoder_delete, (FLAC__StreamDecoder * decoder), (decoder)) \
    X(FLAC__bool, FLAC__stream_decoder_set_metadata_respond, (FLAC__StreamDecoder * decoder, FLAC__MetadataType type), (decoder, type)) \
    X(FLAC__StreamDecoderInitStatus, FLAC__stream_decoder_init_stream, \
      (FLAC__StreamDecoder * decoder, FLAC__StreamDecoderReadCallback read, FLAC__StreamDecoderSeekCallback seek, \
       FLAC__StreamDecoderTellCallback tell, FLAC__StreamDecoderLengthCallback length, FLAC__StreamDecoderEofCallback eof, \
       FLAC__StreamDecoderWriteCallback write, FLAC__StreamDecoderMetadataCallback metadata, FLAC__StreamDecoderErrorCallback error, \
       void *client_data), \
      (decoder, read, seek, tell, length, eof, write, metadata, error, client_data)) \
    X(FLAC__StreamDecoderState, FLAC__stream_decoder_get_state, (const FLAC__StreamDecoder *decoder), (decoder)) \
    X(FLAC__bool, FLAC__stream_decoder_get_decode_position, (const FLAC__StreamDecoder *decoder, FLAC__uint64 *end), (decoder, end)) \
    X(FLAC__bool, FLAC__stream_decoder_process_until_end_of_metadata, (FLAC__StreamDecoder * decoder), (decoder)) \
    X(FLAC__bool, FLAC__stream_decoder_process_single, (FLAC__StreamDecoder * decoder), (decoder)) \
    X(FLAC__bool, FLAC__stream_decoder_seek_absolute, (FLAC__StreamDecoder * decoder, FLAC__uint64 sample), (decoder, sample)) \
    X(FLAC__bool, FLAC__stream_decoder_flush, (FLAC__StreamDecoder * decoder), (decoder)) \
    X(FLAC__bool, FLAC__stream_decoder_finish, (FLAC__StreamDecoder * decoder), (decoder))

#define DEFINE(result, name, parameters, arguments) \
    static result(*cflac_##name) parameters; \
    result name parameters { return cflac_##name arguments; }
FUNCTIONS(DEFINE)

static const char *fault;

static void load(void) {
    // libsndfile, which is linked, brings its own libFLAC, under whatever name.
    void *library = RTLD_DEFAULT;
    if (!dlsym(RTLD_DEFAULT, "FLAC__stream_decoder_new") && !(library = dlopen("libFLAC.so.12", RTLD_NOW | RTLD_LOCAL)) &&
        !(library = dlopen("libFLAC.so.14", RTLD_NOW | RTLD_LOCAL))) {
        fault = "neither libFLAC.so.12 nor libFLAC.so.14 can be loaded";
        return;
    }
    // Version 1.4 has added it.
    if (!dlsym(library, "FLAC__stream_encoder_get_limit_min_bitrate")) fault = "libFLAC is older than 1.4";
#define LOAD(result, name, parameters, arguments) \
    if (!(cflac_##name = (result(*) parameters)dlsym(library, #name))) fault = "libFLAC has no " #name;
    FUNCTIONS(LOAD)
}

const char *cflac_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return fault;
}
