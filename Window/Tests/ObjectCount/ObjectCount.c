// Counts the objects of which each tab has some, and prints at the end of the program how many were made, and how many of them are left. A test
// loads it into the window with LD_PRELOAD. A leak checker does not find widgets that are left: GTK still refers to them.
#include <glib-object.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    "WebKitWebView", "WebKitUserContentManager", "WebKitSettings", "GtkStack", "GtkLabel", "GtkButton", "GtkGestureClick", "GtkGestureZoom",
};
enum { types = sizeof names / sizeof *names };
static int made[types], left[types];

static void note_end(gpointer type, GObject *object) {
    left[GPOINTER_TO_INT(type)]--;
}

// WebKitGTK and GTK make their objects with it, and so does the window.
gpointer g_object_new(GType type, const char *first, ...) {
    va_list arguments;
    va_start(arguments, first);
    GObject *object = first ? g_object_new_valist(type, first, arguments) : g_object_new_with_properties(type, 0, NULL, NULL);
    va_end(arguments);
    for (int i = 0; i < types; i++) {
        if (strcmp(g_type_name(type), names[i]) != 0) continue;
        made[i]++;
        left[i]++;
        g_object_weak_ref(object, note_end, GINT_TO_POINTER(i));
    }
    return object;
}

static void report(void) {
    for (int i = 0; i < types; i++) fprintf(stderr, "OBJECTS %s %d %d\n", names[i], made[i], left[i]);
}

__attribute__((constructor)) static void begin(void) {
    // The programs that the window starts are not counted.
    unsetenv("LD_PRELOAD");
    atexit(report);
}
