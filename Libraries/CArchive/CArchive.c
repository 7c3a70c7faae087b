#include "CArchive.h"

#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>

// The declarations of <archive.h> and <archive_entry.h>, version 3, as far as they are used here: the headers are not needed to build
// Hemiola. X(result, name, (parameters)).
typedef struct archive_entry archive_entry;
#define FUNCTIONS(X) \
    X(carchive *, archive_read_new, (void)) \
    X(int, archive_read_support_filter_bzip2, (carchive *)) \
    X(int, archive_read_support_filter_gzip, (carchive *)) \
    X(int, archive_read_support_filter_xz, (carchive *)) \
    X(int, archive_read_support_filter_zstd, (carchive *)) \
    X(int, archive_read_support_format_7zip, (carchive *)) \
    X(int, archive_read_support_format_tar, (carchive *)) \
    X(int, archive_read_support_format_zip, (carchive *)) \
    X(int, archive_read_open_filename, (carchive *, const char *, size_t)) \
    X(int, archive_read_next_header, (carchive *, archive_entry **)) \
    X(long, archive_read_data, (carchive *, void *, size_t)) \
    X(int, archive_read_free, (carchive *)) \
    X(const char *, archive_error_string, (carchive *)) \
    X(const char *, archive_entry_pathname, (archive_entry *)) \
    X(const char *, archive_entry_pathname_utf8, (archive_entry *)) \
    X(unsigned, archive_entry_filetype, (archive_entry *))

#define DEFINE(result, name, parameters) static result(*name) parameters;
FUNCTIONS(DEFINE)

enum { END = 1, WARNING = -20, REGULAR_FILE = 0100000 };

static const char *fault;
// libarchive converts names to the character set of the locale, which the program does not set.
static locale_t utf8;

static void load(void) {
    utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    // Never unloaded.
    void *library = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fault = "libarchive.so.13 is not installed";
        return;
    }
#define LOAD(result, name, parameters) \
    if (!(name = (result(*) parameters)dlsym(library, #name))) fault = "libarchive.so.13 has no " #name;
    FUNCTIONS(LOAD)
}

static const char *message(carchive *archive) {
    const char *text = archive_error_string(archive);
    return text ? text : "damaged";
}

const char *carchive_open(const char *path, carchive **archive) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *archive = NULL;
    if (fault) return fault;
    if (!(*archive = archive_read_new())) return "out of memory";
    // Not all: some filters start programs.
    archive_read_support_filter_bzip2(*archive);
    archive_read_support_filter_gzip(*archive);
    archive_read_support_filter_xz(*archive);
    archive_read_support_filter_zstd(*archive);
    archive_read_support_format_7zip(*archive);
    archive_read_support_format_tar(*archive);
    archive_read_support_format_zip(*archive);
    return archive_read_open_filename(*archive, path, 64 << 10) ? message(*archive) : NULL;
}

static int next(carchive *archive, const char **name, const char **fault) {
    archive_entry *entry;
    *fault = NULL;
    for (;;) {
        int status = archive_read_next_header(archive, &entry);
        if (status == END) return 0;
        if (status < WARNING) {
            *fault = message(archive);
            return 0;
        }
        if (archive_entry_filetype(entry) != REGULAR_FILE) continue;
        *name = archive_entry_pathname_utf8(entry);
        if (!*name) *name = archive_entry_pathname(entry);
        if (*name) return 1;
    }
}

int carchive_next(carchive *archive, const char **name, const char **fault) {
    locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
    int result = next(archive, name, fault);
    if (before) uselocale(before);
    return result;
}

long carchive_read(carchive *archive, void *bytes, size_t count) { return archive_read_data(archive, bytes, count); }

void carchive_close(carchive *archive) { archive_read_free(archive); }
