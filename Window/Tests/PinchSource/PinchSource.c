// Pinches the visible page of a window: by half at SIGUSR1, by two thirds back at SIGUSR2. X11 has no events with which a test could do so
// (no device of a private display sends them), and GTK has no public function that makes one. So this library, which a test loads with
// LD_PRELOAD, keeps the gestures that hemiola-window makes, and emits the signals with which GTK reports a pinch.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glib-unix.h>
#include <gtk/gtk.h>
#include <signal.h>
#include <string.h>

static GtkGesture *gestures[64];
static size_t count;

static gboolean pinch(gpointer data) {
    double end = *(double *)data;
    for (size_t i = 0; i < count; i++) {
        GtkWidget *widget = gestures[i] ? gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(gestures[i])) : NULL;
        if (!widget || !gtk_widget_get_mapped(widget)) continue;
        g_signal_emit_by_name(gestures[i], "begin", NULL);
        for (int step = 1; step <= 20; step++) g_signal_emit_by_name(gestures[i], "scale-changed", 1 + (end - 1) * step / 20);
        g_signal_emit_by_name(gestures[i], "end", NULL);
    }
    return G_SOURCE_CONTINUE;
}

GtkGesture *gtk_gesture_zoom_new(void) {
    static GtkGesture *(*original)(void);
    static double in = 1.5, out = 1 / 1.5;
    if (!original) {
        original = (GtkGesture * (*)(void)) dlsym(RTLD_NEXT, "gtk_gesture_zoom_new");
        g_unix_signal_add(SIGUSR1, pinch, &in);
        g_unix_signal_add(SIGUSR2, pinch, &out);
    }
    GtkGesture *gesture = original();
    // WebKitGTK has gestures of its own.
    Dl_info caller;
    if (count < 64 && dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "hemiola-window")) {
        gestures[count] = gesture;
        g_object_add_weak_pointer(G_OBJECT(gesture), (gpointer *)&gestures[count]);
        count++;
    }
    return gesture;
}
