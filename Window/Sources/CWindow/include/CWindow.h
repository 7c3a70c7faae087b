// Functions of GTK, WebKitGTK and Linux that Swift cannot call: with a variable number of arguments, macros, and fork.
#ifndef CWINDOW_H
#define CWINDOW_H

#include <gtk/gtk.h>
#include <webkit/webkit.h>

/// A web context whose web processes end when they use more memory than the limit, in MB. They check it at this interval.
WebKitWebContext *cwindow_context_new(unsigned memory_limit_mb, double poll_seconds);

/// A web view that may play audio without a gesture of the user. A floating reference. `inspect`: whether the inspector can be opened.
WebKitWebView *cwindow_view_new(
    WebKitWebContext *context, WebKitNetworkSession *session, WebKitUserContentManager *manager, gboolean inspect);

/// Calls a JavaScript function with named text arguments in the page's world. `callback` gets the result.
void cwindow_call(
    WebKitWebView *view, const char *body, const char *const *names, const char *const *values, size_t count, GCancellable *cancellable,
    GAsyncReadyCallback callback, void *data);

/// A page that the user has chosen; NULL: none.
typedef void CWindowChosen(const char *path, void *data);

/// Lets the user choose an HTML file. Calls `chosen` once.
void cwindow_choose_page(GtkWindow *parent, const char *title, CWindowChosen *chosen, void *data);

/// Adds CSS for the widgets of all windows.
void cwindow_set_style(GdkDisplay *display, const char *style);

/// `g_signal_connect`.
unsigned long cwindow_connect(void *object, const char *signal, GCallback callback, void *data);

/// Connects to a Unix socket; non-blocking. -1: errno is set. `own`: only to a program of this user or root, else errno is EPERM.
int cwindow_connect_socket(const char *path, gboolean own);

/// Whether a path is a folder of this user that no other user can enter.
gboolean cwindow_folder_is_private(const char *path);

/// Whether the process at the other end of a connected Unix socket was started by a window, this one or another.
int cwindow_server_is_of_window(int descriptor);

/// Opens a regular file for reading, and returns its path without symbolic links. -1: errno is set.
int cwindow_open_file(const char *path, char *real_path, size_t capacity, long long *size);

/// A stream of an open file, which it closes at its end.
GInputStream *cwindow_file_stream(int descriptor);

/// Starts a program that gets SIGTERM when this process ends, with /dev/null as standard input and output. -1: errno is set.
int cwindow_spawn(char *const *arguments);

#endif
