#include <glib-unix.h>
#include <gtk/gtk.h>
#include <webkit/webkit.h>
