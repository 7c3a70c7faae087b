// The functions of libpulse that Hemiola uses, under their own names: each calls through a pointer that is set by dlsym(3).
//
// Linked normally, libpulse and the twenty libraries that it depends on would be loaded by every `hemiola analyze`, at a cost of ten
// milliseconds and three megabytes, and Hemiola would not start on machines without libpulse.
#include "CPulse.h"

#include <dlfcn.h>
#include <pthread.h>

// X(result, name, (parameters), (arguments)). The compiler checks each against its declaration in the header.
#define FUNCTIONS(X) \
    X(pa_channel_map *, pa_channel_map_init_extend, (pa_channel_map *map, unsigned count, pa_channel_map_def_t kind), (map, count, kind)) \
    X(int, pa_context_connect, (pa_context *c, const char *server, pa_context_flags_t flags, const pa_spawn_api *api), (c, server, flags, api)) \
    X(void, pa_context_disconnect, (pa_context *c), (c)) \
    X(int, pa_context_errno, (const pa_context *c), (c)) \
    X(const char *, pa_context_get_server, (const pa_context *c), (c)) \
    X(pa_operation *, pa_context_get_server_info, (pa_context *c, pa_server_info_cb_t then, void *data), (c, then, data)) \
    X(pa_operation *, pa_context_get_sink_info_list, (pa_context *c, pa_sink_info_cb_t then, void *data), (c, then, data)) \
    X(pa_operation *, pa_context_get_sink_input_info_list, (pa_context *c, pa_sink_input_info_cb_t then, void *data), (c, then, data)) \
    X(pa_operation *, pa_context_get_source_info_list, (pa_context *c, pa_source_info_cb_t then, void *data), (c, then, data)) \
    X(pa_operation *, pa_context_get_module_info_list, (pa_context *c, pa_module_info_cb_t then, void *data), (c, then, data)) \
    X(pa_context_state_t, pa_context_get_state, (const pa_context *c), (c)) \
    X(pa_operation *, pa_context_load_module, \
      (pa_context *c, const char *name, const char *arguments, pa_context_index_cb_t then, void *data), (c, name, arguments, then, data)) \
    X(pa_context *, pa_context_new, (pa_mainloop_api *api, const char *name), (api, name)) \
    X(pa_time_event *, pa_context_rttime_new, (const pa_context *c, pa_usec_t time, pa_time_event_cb_t then, void *data), (c, time, then, data)) \
    X(void, pa_context_rttime_restart, (const pa_context *c, pa_time_event *event, pa_usec_t time), (c, event, time)) \
    X(void, pa_context_set_state_callback, (pa_context *c, pa_context_notify_cb_t then, void *data), (c, then, data)) \
    X(void, pa_context_set_subscribe_callback, (pa_context *c, pa_context_subscribe_cb_t then, void *data), (c, then, data)) \
    X(pa_operation *, pa_context_subscribe, (pa_context *c, pa_subscription_mask_t mask, pa_context_success_cb_t then, void *data), (c, mask, then, data)) \
    X(pa_operation *, pa_context_unload_module, (pa_context *c, uint32_t index, pa_context_success_cb_t then, void *data), (c, index, then, data)) \
    X(void, pa_context_unref, (pa_context *c), (c)) \
    X(void, pa_operation_unref, (pa_operation *o), (o)) \
    X(void, pa_proplist_free, (pa_proplist *list), (list)) \
    X(const char *, pa_proplist_gets, (const pa_proplist *list, const char *key), (list, key)) \
    X(pa_proplist *, pa_proplist_new, (void), ()) \
    X(int, pa_proplist_sets, (pa_proplist *list, const char *key, const char *value), (list, key, value)) \
    X(pa_usec_t, pa_rtclock_now, (void), ()) \
    X(const char *, pa_strerror, (int number), (number)) \
    X(int, pa_stream_begin_write, (pa_stream *s, void **data, size_t *count), (s, data, count)) \
    X(int, pa_stream_connect_playback, \
      (pa_stream *s, const char *device, const pa_buffer_attr *buffer, pa_stream_flags_t flags, const pa_cvolume *volume, pa_stream *sync), \
      (s, device, buffer, flags, volume, sync)) \
    X(int, pa_stream_connect_record, (pa_stream *s, const char *device, const pa_buffer_attr *buffer, pa_stream_flags_t flags), (s, device, buffer, flags)) \
    X(int, pa_stream_disconnect, (pa_stream *s), (s)) \
    X(int, pa_stream_drop, (pa_stream *s), (s)) \
    X(pa_context *, pa_stream_get_context, (const pa_stream *s), (s)) \
    X(const char *, pa_stream_get_device_name, (const pa_stream *s), (s)) \
    X(pa_stream_state_t, pa_stream_get_state, (const pa_stream *s), (s)) \
    X(int, pa_stream_is_suspended, (const pa_stream *s), (s)) \
    X(pa_stream *, pa_stream_new, (pa_context *c, const char *name, const pa_sample_spec *format, const pa_channel_map *map), (c, name, format, map)) \
    X(pa_stream *, pa_stream_new_with_proplist, \
      (pa_context *c, const char *name, const pa_sample_spec *format, const pa_channel_map *map, pa_proplist *list), (c, name, format, map, list)) \
    X(int, pa_stream_peek, (pa_stream *s, const void **data, size_t *count), (s, data, count)) \
    X(pa_operation *, pa_stream_proplist_update, \
      (pa_stream *s, pa_update_mode_t mode, pa_proplist *list, pa_stream_success_cb_t then, void *data), (s, mode, list, then, data)) \
    X(size_t, pa_stream_readable_size, (const pa_stream *s), (s)) \
    X(int, pa_stream_set_monitor_stream, (pa_stream *s, uint32_t index), (s, index)) \
    X(void, pa_stream_set_moved_callback, (pa_stream *s, pa_stream_notify_cb_t then, void *data), (s, then, data)) \
    X(void, pa_stream_set_read_callback, (pa_stream *s, pa_stream_request_cb_t then, void *data), (s, then, data)) \
    X(void, pa_stream_set_state_callback, (pa_stream *s, pa_stream_notify_cb_t then, void *data), (s, then, data)) \
    X(void, pa_stream_set_suspended_callback, (pa_stream *s, pa_stream_notify_cb_t then, void *data), (s, then, data)) \
    X(void, pa_stream_set_write_callback, (pa_stream *s, pa_stream_request_cb_t then, void *data), (s, then, data)) \
    X(void, pa_stream_unref, (pa_stream *s), (s)) \
    X(int, pa_stream_write, (pa_stream *s, const void *data, size_t count, pa_free_cb_t then, int64_t offset, pa_seek_mode_t seek), \
      (s, data, count, then, offset, seek)) \
    X(void, pa_threaded_mainloop_free, (pa_threaded_mainloop *m), (m)) \
    X(pa_mainloop_api *, pa_threaded_mainloop_get_api, (pa_threaded_mainloop *m), (m)) \
    X(void, pa_threaded_mainloop_lock, (pa_threaded_mainloop *m), (m)) \
    X(pa_threaded_mainloop *, pa_threaded_mainloop_new, (void), ()) \
    X(int, pa_threaded_mainloop_start, (pa_threaded_mainloop *m), (m)) \
    X(void, pa_threaded_mainloop_stop, (pa_threaded_mainloop *m), (m)) \
    X(void, pa_threaded_mainloop_unlock, (pa_threaded_mainloop *m), (m))

#define DEFINE(result, name, parameters, arguments) \
    static result(*cpulse_##name) parameters; \
    result name parameters { return cpulse_##name arguments; }
FUNCTIONS(DEFINE)

static const char *fault;

static void load(void) {
    // The soname of every libpulse since 2009. Never unloaded, because libpulse runs threads.
    void *library = dlopen("libpulse.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fault = "libpulse.so.0 is not installed";
        return;
    }
#define LOAD(result, name, parameters, arguments) \
    if (!(cpulse_##name = (result(*) parameters)dlsym(library, #name))) fault = "libpulse.so.0 has no " #name;
    FUNCTIONS(LOAD)
}

const char *cpulse_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return fault;
}
