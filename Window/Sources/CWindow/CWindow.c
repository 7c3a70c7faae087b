#include "CWindow.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

WebKitWebContext *cwindow_context_new(unsigned memory_limit_mb, double poll_seconds) {
    WebKitMemoryPressureSettings *settings = webkit_memory_pressure_settings_new();
    webkit_memory_pressure_settings_set_memory_limit(settings, memory_limit_mb);
    webkit_memory_pressure_settings_set_kill_threshold(settings, 1.0);
    webkit_memory_pressure_settings_set_poll_interval(settings, poll_seconds);
    WebKitWebContext *context = g_object_new(WEBKIT_TYPE_WEB_CONTEXT, "memory-pressure-settings", settings, NULL);
    webkit_memory_pressure_settings_free(settings);
    return context;
}

/// The settings of a page. `inspect`: whether the inspector can be opened.
static WebKitSettings *settings_new(gboolean inspect) {
    WebKitSettings *settings = webkit_settings_new();
    webkit_settings_set_media_playback_requires_user_gesture(settings, FALSE);
    webkit_settings_set_enable_developer_extras(settings, inspect);
    webkit_settings_set_enable_back_forward_navigation_gestures(settings, TRUE);
    webkit_settings_set_javascript_can_open_windows_automatically(settings, FALSE);
    webkit_settings_set_enable_webgl(settings, TRUE);
    // A page that is left is closed: it would stay connected otherwise.
    webkit_settings_set_enable_page_cache(settings, FALSE);
    // Without this feature an OffscreenCanvas has no context "webgl2", which visualizers do not expect.
    WebKitFeatureList *features = webkit_settings_get_all_features();
    for (gsize i = 0; i < webkit_feature_list_get_length(features); i++) {
        WebKitFeature *feature = webkit_feature_list_get(features, i);
        if (strcmp(webkit_feature_get_identifier(feature), "AllowWebGLInWorkers") == 0)
            webkit_settings_set_feature_enabled(settings, feature, TRUE);
    }
    webkit_feature_list_unref(features);
    return settings;
}

WebKitWebView *cwindow_view_new(
    WebKitWebContext *context, WebKitNetworkSession *session, WebKitUserContentManager *manager, gboolean inspect) {
    WebKitSettings *settings = settings_new(inspect);
    WebKitWebsitePolicies *policies = webkit_website_policies_new_with_policies("autoplay", WEBKIT_AUTOPLAY_ALLOW, NULL);
    WebKitWebView *view = g_object_new(
        WEBKIT_TYPE_WEB_VIEW, "web-context", context, "network-session", session, "user-content-manager", manager, "settings", settings,
        "website-policies", policies, NULL);
    // The view has references of its own.
    g_object_unref(settings);
    g_object_unref(policies);
    return view;
}

void cwindow_end_with_parent(void *parent) {
    // Between fork and exec: functions that are safe in a signal handler only.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != GPOINTER_TO_INT(parent)) _exit(127);
    setpgid(0, 0);
}
