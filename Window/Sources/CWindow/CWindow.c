// For pipe2.
#define _GNU_SOURCE

#include "CWindow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
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

void cwindow_call(
    WebKitWebView *view, const char *body, const char *const *names, const char *const *values, size_t count, GCancellable *cancellable,
    GAsyncReadyCallback callback, void *data) {
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
    for (size_t i = 0; i < count; i++) {
        // A GVariant holds valid UTF-8 only.
        if (g_utf8_validate(values[i], -1, NULL))
            g_variant_builder_add(&builder, "{sv}", names[i], g_variant_new_string(values[i]));
        else
            g_variant_builder_add(&builder, "{sv}", names[i], g_variant_new_take_string(g_utf8_make_valid(values[i], -1)));
    }
    // The view copies the arguments, and does not take the floating reference.
    GVariant *arguments = g_variant_ref_sink(g_variant_builder_end(&builder));
    webkit_web_view_call_async_javascript_function(view, body, -1, arguments, NULL, NULL, cancellable, callback, data);
    g_variant_unref(arguments);
}

typedef struct {
    CWindowChosen *chosen;
    void *data;
} Choice;

// GtkFileDialog, which replaces these functions, needs GTK 4.10; Debian 12 has GTK 4.8.
G_GNUC_BEGIN_IGNORE_DEPRECATIONS
static void complete_choice(GtkNativeDialog *dialog, int response, gpointer data) {
    Choice *choice = data;
    char *path = NULL;
    if (response == GTK_RESPONSE_ACCEPT) {
        GFile *file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        path = file ? g_file_get_path(file) : NULL;
        g_clear_object(&file);
    }
    g_object_unref(dialog);
    choice->chosen(path, choice->data);
    g_free(path);
    g_free(choice);
}

void cwindow_choose_page(GtkWindow *parent, const char *title, CWindowChosen *chosen, void *data) {
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new(title, parent, GTK_FILE_CHOOSER_ACTION_OPEN, NULL, NULL);
    GtkFileFilter *filter = gtk_file_filter_new();
    gtk_file_filter_set_name(filter, "Pages (*.html)");
    gtk_file_filter_add_suffix(filter, "html");
    gtk_file_filter_add_suffix(filter, "htm");
    gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), filter);
    g_object_unref(filter);
    Choice *choice = g_new(Choice, 1);
    *choice = (Choice){chosen, data};
    g_signal_connect(dialog, "response", G_CALLBACK(complete_choice), choice);
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}
G_GNUC_END_IGNORE_DEPRECATIONS

void cwindow_set_style(GdkDisplay *display, const char *style) {
    GtkCssProvider *provider = gtk_css_provider_new();
    gtk_css_provider_load_from_data(provider, style, -1);
    gtk_style_context_add_provider_for_display(display, GTK_STYLE_PROVIDER(provider), GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    g_object_unref(provider);
}

unsigned long cwindow_connect(void *object, const char *signal, GCallback callback, void *data) {
    return g_signal_connect(object, signal, callback, data);
}

int cwindow_connect_socket(const char *path, gboolean own) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0) {
        int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    struct ucred server;
    socklen_t length = sizeof server;
    if (own && (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &server, &length) < 0 || (server.uid != geteuid() && server.uid != 0))) {
        close(descriptor);
        errno = EPERM;
        return -1;
    }
    return descriptor;
}

gboolean cwindow_folder_is_private(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 077) == 0;
}

/// The content of a file of a process in /proc, or NULL. Release it with g_free.
static char *process_file(int process, const char *name) {
    char path[64];
    g_snprintf(path, sizeof path, "/proc/%d/%s", process, name);
    char *text = NULL;
    return g_file_get_contents(path, &text, NULL, NULL) ? text : NULL;
}

int cwindow_server_is_of_window(int descriptor) {
    struct ucred server;
    socklen_t length = sizeof server;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &server, &length) < 0) return 0;
    char *status = process_file(server.pid, "stat");
    // The parent is the second field after the name, which is in parentheses and can itself contain one.
    char *end = status ? strrchr(status, ')') : NULL;
    int parent = 0;
    if (!end || sscanf(end, ") %*c %d", &parent) != 1) parent = 0;
    g_free(status);
    char *name = parent > 0 ? process_file(parent, "comm") : NULL;
    char *own = process_file(getpid(), "comm");
    int result = name && own && strcmp(name, own) == 0;
    g_free(name);
    g_free(own);
    return result;
}

int cwindow_open_file(const char *path, char *real_path, size_t capacity, long long *size) {
    // O_NONBLOCK: a FIFO would block.
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) return -1;
    struct stat status;
    if (fstat(descriptor, &status) < 0 || !S_ISREG(status.st_mode)) {
        close(descriptor);
        errno = EINVAL;
        return -1;
    }
    char link[64];
    g_snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, real_path, capacity - 1);
    if (length < 0 || (size_t)length >= capacity - 1) {
        close(descriptor);
        errno = ENAMETOOLONG;
        return -1;
    }
    real_path[length] = 0;
    *size = status.st_size;
    return descriptor;
}

// Declared in <gio/gunixinputstream.h>, whose folder is not that of the other headers; the library is the same.
extern GInputStream *g_unix_input_stream_new(gint descriptor, gboolean closes);

GInputStream *cwindow_file_stream(int descriptor) {
    return g_unix_input_stream_new(descriptor, TRUE);
}

int cwindow_spawn(char *const *arguments) {
    // The child writes the error of exec to this pipe; exec closes it.
    int error[2];
    if (pipe2(error, O_CLOEXEC) < 0) return -1;
    pid_t parent = getpid();
    pid_t child = fork();
    if (child != 0) {
        int code = errno;
        close(error[1]);
        if (child > 0) {
            ssize_t count;
            do count = read(error[0], &code, sizeof code);
            while (count < 0 && errno == EINTR);
            if (count == (ssize_t)sizeof code) {
                waitpid(child, NULL, 0);
                child = -1;
            }
        }
        close(error[0]);
        errno = code;
        return child;
    }
    // Between fork and exec: functions that are safe in a signal handler only.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
    }
    setpgid(0, 0);
    execvp(arguments[0], arguments);
    int code = errno;
    (void)!write(error[1], &code, sizeof code);
    _exit(127);
}
