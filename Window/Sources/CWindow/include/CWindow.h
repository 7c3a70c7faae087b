// What Swift cannot do with GTK, WebKitGTK and Linux: functions with a variable number of arguments, and what runs after fork.
#ifndef CWINDOW_H
#define CWINDOW_H

#include <gtk/gtk.h>
#include <webkit/webkit.h>

/// A web context whose web processes end when they use more memory than the limit, in MB. They check it at this interval.
WebKitWebContext *cwindow_context_new(unsigned memory_limit_mb, double poll_seconds);

/// A web view that may play audio without a gesture of the user. A floating reference. `inspect`: whether the inspector can be opened.
WebKitWebView *cwindow_view_new(
    WebKitWebContext *context, WebKitNetworkSession *session, WebKitUserContentManager *manager, gboolean inspect);

/// For `g_spawn_async`: the program leads a group of its own, and gets SIGTERM when this process, whose number is `parent`, ends.
void cwindow_end_with_parent(void *parent);

#endif
