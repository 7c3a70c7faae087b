// The functions of libogg, libvorbis and libopus that Hemiola uses, under their own names: each calls through a pointer that is set by
// dlsym(3).
#define _GNU_SOURCE
#include "CXiph.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

// X(result, name, (parameters), (arguments)). The compiler checks each against its declaration in the header.
#define FUNCTIONS(X) \
    X(int, ogg_page_bos, (const ogg_page *page), (page)) \
    X(int, ogg_page_eos, (const ogg_page *page), (page)) \
    X(ogg_int64_t, ogg_page_granulepos, (const ogg_page *page), (page)) \
    X(int, ogg_page_packets, (const ogg_page *page), (page)) \
    X(int, ogg_page_serialno, (const ogg_page *page), (page)) \
    X(int, ogg_stream_clear, (ogg_stream_state *stream), (stream)) \
    X(int, ogg_stream_init, (ogg_stream_state *stream, int serial), (stream, serial)) \
    X(int, ogg_stream_packetout, (ogg_stream_state *stream, ogg_packet *packet), (stream, packet)) \
    X(int, ogg_stream_pagein, (ogg_stream_state *stream, ogg_page *page), (stream, page)) \
    X(int, ogg_stream_reset_serialno, (ogg_stream_state *stream, int serial), (stream, serial)) \
    X(char *, ogg_sync_buffer, (ogg_sync_state *sync, long size), (sync, size)) \
    X(int, ogg_sync_clear, (ogg_sync_state *sync), (sync)) \
    X(int, ogg_sync_init, (ogg_sync_state *sync), (sync)) \
    X(long, ogg_sync_pageseek, (ogg_sync_state *sync, ogg_page *page), (sync, page)) \
    X(int, ogg_sync_wrote, (ogg_sync_state *sync, long size), (sync, size)) \
    X(void, oggpack_adv, (oggpack_buffer *buffer, int bits), (buffer, bits)) \
    X(long, oggpack_look, (oggpack_buffer *buffer, int bits), (buffer, bits)) \
    X(long, oggpack_read, (oggpack_buffer *buffer, int bits), (buffer, bits)) \
    X(void, oggpack_readinit, (oggpack_buffer *buffer, unsigned char *bytes, int size), (buffer, bytes, size)) \
    X(int, opus_multistream_decode_float, \
      (OpusMSDecoder *decoder, const unsigned char *packet, opus_int32 size, float *samples, int room, int repairs), \
      (decoder, packet, size, samples, room, repairs)) \
    X(OpusMSDecoder *, opus_multistream_decoder_create, \
      (opus_int32 rate, int channels, int streams, int coupled, const unsigned char *mapping, int *error), \
      (rate, channels, streams, coupled, mapping, error)) \
    X(void, opus_multistream_decoder_destroy, (OpusMSDecoder *decoder), (decoder)) \
    X(int, vorbis_block_clear, (vorbis_block *block), (block)) \
    X(int, vorbis_block_init, (vorbis_dsp_state *state, vorbis_block *block), (state, block)) \
    X(void, vorbis_comment_clear, (vorbis_comment *comment), (comment)) \
    X(void, vorbis_comment_init, (vorbis_comment *comment), (comment)) \
    X(void, vorbis_dsp_clear, (vorbis_dsp_state *state), (state)) \
    X(int, vorbis_info_blocksize, (vorbis_info *info, int isLong), (info, isLong)) \
    X(void, vorbis_info_clear, (vorbis_info *info), (info)) \
    X(void, vorbis_info_init, (vorbis_info *info), (info)) \
    X(int, vorbis_synthesis, (vorbis_block *block, ogg_packet *packet), (block, packet)) \
    X(int, vorbis_synthesis_blockin, (vorbis_dsp_state *state, vorbis_block *block), (state, block)) \
    X(int, vorbis_synthesis_headerin, (vorbis_info *info, vorbis_comment *comment, ogg_packet *packet), (info, comment, packet)) \
    X(int, vorbis_synthesis_init, (vorbis_dsp_state *state, vorbis_info *info), (state, info)) \
    X(int, vorbis_synthesis_pcmout, (vorbis_dsp_state *state, float ***samples), (state, samples)) \
    X(int, vorbis_synthesis_read, (vorbis_dsp_state *state, int count), (state, count)) \
    X(int, vorbis_synthesis_restart, (vorbis_dsp_state *state), (state))

#define DEFINE(result, name, parameters, arguments) \
    static result(*cxiph_##name) parameters; \
    result name parameters { return cxiph_##name arguments; }
FUNCTIONS(DEFINE)

// Variadic: it cannot be called from Swift.
static int (*decoder_ctl)(OpusMSDecoder *decoder, int request, ...);

static const char *fault;

static void *find(const char *name) {
    // libsndfile has loaded all three, perhaps under the names of a bundle.
    void *function = dlsym(RTLD_DEFAULT, name);
    if (function) return function;
    const char *file = !strncmp(name, "opus", 4) ? "libopus.so.0" : !strncmp(name, "vorbis", 6) ? "libvorbis.so.0" : "libogg.so.0";
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library || !(function = dlsym(library, name))) fault = file;
    return function;
}

static void load(void) {
#define LOAD(result, name, parameters, arguments) cxiph_##name = (result(*) parameters)find(#name);
    FUNCTIONS(LOAD)
    decoder_ctl = (int (*)(OpusMSDecoder *, int, ...))find("opus_multistream_decoder_ctl");
}

const char *cxiph_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return fault;
}

int cxiph_set_gain(OpusMSDecoder *decoder, int gain) { return decoder_ctl(decoder, OPUS_SET_GAIN(gain)); }
