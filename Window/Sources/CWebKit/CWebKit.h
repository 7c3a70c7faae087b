// GtkFileDialog, which replaces the deprecated file chooser, needs GTK 4.10; Debian 12 has GTK 4.8.
#define GDK_DISABLE_DEPRECATION_WARNINGS
#include <glib-unix.h>
#include <gtk/gtk.h>
#include <webkit/webkit.h>
// Declared in <gio/gunixinputstream.h>, whose folder is not that of the other headers; the library is the same.
extern GInputStream *g_unix_input_stream_new(gint descriptor, gboolean closes);
