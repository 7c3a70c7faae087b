// The part of cairo 1.16 that Hemiola uses, loaded on demand: only `hemiola render` draws. The declarations are those of <cairo.h>,
// <cairo-svg.h> and <cairo-pdf.h>, which are not needed to build Hemiola. Only Plugins/Sinks/Files/Picture/Canvas.swift imports this module.
#ifndef CCAIRO_H
#define CCAIRO_H

typedef struct cairo_state cairo_t;
typedef struct cairo_surface cairo_surface_t;
typedef struct cairo_pattern cairo_pattern_t;
typedef struct cairo_font_options cairo_font_options_t;

/// Returns 0, or 11 (CAIRO_STATUS_WRITE_ERROR).
typedef int (*cairo_write_func_t)(void *closure, const unsigned char *data, unsigned int length);

typedef struct {
    double x_bearing, y_bearing, width, height, x_advance, y_advance;
} cairo_text_extents_t;

// Constants of cairo's enumerations.
static const int CCAIRO_FORMAT_RGB24 = 1;
static const int CCAIRO_ANTIALIAS_GRAY = 2;
static const int CCAIRO_FILTER_GOOD = 1;
static const int CCAIRO_FILTER_NEAREST = 3;
static const int CCAIRO_LINE_JOIN_ROUND = 1;
static const int CCAIRO_WEIGHT_NORMAL = 0;
static const int CCAIRO_WEIGHT_BOLD = 1;
static const int CCAIRO_HINT_STYLE_NONE = 1;
static const int CCAIRO_HINT_STYLE_SLIGHT = 2;
static const int CCAIRO_HINT_METRICS_OFF = 1;
static const int CCAIRO_EXTEND_PAD = 3;
static const int CCAIRO_PDF_TITLE = 0;
static const int CCAIRO_PDF_CREATE_DATE = 5;

// X(result, name, (parameters), (arguments))
#define CCAIRO_FUNCTIONS(X) \
    X(const char *, cairo_status_to_string, (int status), (status)) \
    X(cairo_surface_t *, cairo_image_surface_create, (int format, int width, int height), (format, width, height)) \
    X(cairo_surface_t *, cairo_image_surface_create_for_data, \
        (unsigned char *data, int format, int width, int height, int stride), (data, format, width, height, stride)) \
    X(cairo_surface_t *, cairo_svg_surface_create_for_stream, \
        (cairo_write_func_t write, void *closure, double width, double height), (write, closure, width, height)) \
    X(cairo_surface_t *, cairo_pdf_surface_create_for_stream, \
        (cairo_write_func_t write, void *closure, double width, double height), (write, closure, width, height)) \
    X(void, cairo_pdf_surface_set_metadata, (cairo_surface_t *surface, int key, const char *text), (surface, key, text)) \
    X(int, cairo_surface_write_to_png_stream, (cairo_surface_t *surface, cairo_write_func_t write, void *closure), \
        (surface, write, closure)) \
    X(void, cairo_surface_finish, (cairo_surface_t *surface), (surface)) \
    X(int, cairo_surface_status, (cairo_surface_t *surface), (surface)) \
    X(void, cairo_surface_destroy, (cairo_surface_t *surface), (surface)) \
    X(cairo_t *, cairo_create, (cairo_surface_t *surface), (surface)) \
    X(void, cairo_destroy, (cairo_t *context), (context)) \
    X(int, cairo_status, (cairo_t *context), (context)) \
    X(void, cairo_save, (cairo_t *context), (context)) \
    X(void, cairo_restore, (cairo_t *context), (context)) \
    X(void, cairo_translate, (cairo_t *context, double x, double y), (context, x, y)) \
    X(void, cairo_scale, (cairo_t *context, double x, double y), (context, x, y)) \
    X(void, cairo_rotate, (cairo_t *context, double angle), (context, angle)) \
    X(void, cairo_set_source_rgba, (cairo_t *context, double red, double green, double blue, double alpha), \
        (context, red, green, blue, alpha)) \
    X(void, cairo_set_source_surface, (cairo_t *context, cairo_surface_t *surface, double x, double y), (context, surface, x, y)) \
    X(cairo_pattern_t *, cairo_get_source, (cairo_t *context), (context)) \
    X(void, cairo_pattern_set_filter, (cairo_pattern_t *pattern, int filter), (pattern, filter)) \
    X(void, cairo_pattern_set_extend, (cairo_pattern_t *pattern, int extend), (pattern, extend)) \
    X(void, cairo_rectangle, (cairo_t *context, double x, double y, double width, double height), (context, x, y, width, height)) \
    X(void, cairo_move_to, (cairo_t *context, double x, double y), (context, x, y)) \
    X(void, cairo_line_to, (cairo_t *context, double x, double y), (context, x, y)) \
    X(void, cairo_close_path, (cairo_t *context), (context)) \
    X(void, cairo_set_line_width, (cairo_t *context, double width), (context, width)) \
    X(void, cairo_set_line_join, (cairo_t *context, int join), (context, join)) \
    X(void, cairo_fill, (cairo_t *context), (context)) \
    X(void, cairo_stroke, (cairo_t *context), (context)) \
    X(void, cairo_paint, (cairo_t *context), (context)) \
    X(void, cairo_clip, (cairo_t *context), (context)) \
    X(void, cairo_select_font_face, (cairo_t *context, const char *name, int slant, int weight), (context, name, slant, weight)) \
    X(void, cairo_set_font_size, (cairo_t *context, double size), (context, size)) \
    X(void, cairo_set_font_options, (cairo_t *context, const cairo_font_options_t *options), (context, options)) \
    X(cairo_font_options_t *, cairo_font_options_create, (void), ()) \
    X(void, cairo_font_options_destroy, (cairo_font_options_t *options), (options)) \
    X(void, cairo_font_options_set_antialias, (cairo_font_options_t *options, int antialias), (options, antialias)) \
    X(void, cairo_font_options_set_hint_style, (cairo_font_options_t *options, int style), (options, style)) \
    X(void, cairo_font_options_set_hint_metrics, (cairo_font_options_t *options, int metrics), (options, metrics)) \
    X(void, cairo_text_extents, (cairo_t *context, const char *text, cairo_text_extents_t *extents), (context, text, extents)) \
    X(void, cairo_show_text, (cairo_t *context, const char *text), (context, text))

// Hidden: another library of the process that uses cairo must not find the functions of CCairo.c.
#pragma GCC visibility push(hidden)
#define CCAIRO_DECLARE(result, name, parameters, arguments) result name parameters;
CCAIRO_FUNCTIONS(CCAIRO_DECLARE)
#undef CCAIRO_DECLARE

/// Loads cairo, unless it is loaded. After that, the functions above can be called.
///
/// Returns NULL, or an error message. Thread-safe.
const char *ccairo_load(void);
#pragma GCC visibility pop

#endif
