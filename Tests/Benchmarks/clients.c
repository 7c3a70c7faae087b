// Many clients of a Unix socket in one thread, with epoll: they read messages and check that none is missing.
//
//   clients PATH COUNT SECONDS [STALLED]
//
// COUNT clients read; STALLED more connect and never read. Prints one line of JSON: messages and bytes per client and second, the
// interval between messages (ms, 50th and 99th percentile, maximum), `dropped` lines, and missing frames without such a line (holes).
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { TAIL = 96, CAPACITY = 1 << 20 };

struct client {
    int fd;
    long messages, bytes, drops, holes;
    long frame;          // of the last message, -1: none yet
    int reported;        // whether a `dropped` line followed it
    double last;         // when the last message was complete
    char tail[TAIL + 1]; // the end of the current, incomplete line
    char head[24];       // its start
    int tail_length, head_length;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static int join(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    while (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (errno != EAGAIN && errno != EINTR) { perror("connect"); exit(1); }
        usleep(1000);
    }
    return fd;
}

static double *gaps;
static long gap_count, gap_capacity;

static void note_gap(double gap) {
    if (gap_count == gap_capacity) gaps = realloc(gaps, (gap_capacity = gap_capacity ? 2 * gap_capacity : 1 << 16) * sizeof *gaps);
    gaps[gap_count++] = gap;
}

static void finish_line(struct client *c, double time, int counts) {
    c->tail[c->tail_length] = 0;
    c->head[c->head_length] = 0;
    if (strncmp(c->head, "{\"type\":\"pushSamples\"", 21) == 0) {
        char *mark = strstr(c->tail, "\"frame\":");
        long frame = mark ? strtol(mark + 8, NULL, 10) : -1;
        if (c->frame >= 0 && frame != c->frame + 1024 && !c->reported) c->holes++;
        if (counts) {
            c->messages++;
            if (c->last > 0) note_gap(time - c->last);
            c->last = time;
        }
        c->frame = frame;
        c->reported = 0;
    } else if (strncmp(c->head, "{\"type\":\"dropped\"", 17) == 0) {
        if (counts) c->drops++;
        c->reported = 1;
    }
    c->tail_length = c->head_length = 0;
}

static void take(struct client *c, const char *bytes, int count, double time, int counts) {
    if (counts) c->bytes += count;
    while (count > 0) {
        const char *end = memchr(bytes, '\n', count);
        int part = end ? end - bytes : count;
        int free_length = 23 - c->head_length;
        int first = part < free_length ? part : free_length;
        memcpy(c->head + c->head_length, bytes, first);
        c->head_length += first;
        if (part >= TAIL) {
            memcpy(c->tail, bytes + part - TAIL, TAIL);
            c->tail_length = TAIL;
        } else {
            int keep = c->tail_length + part > TAIL ? TAIL - part : c->tail_length;
            memmove(c->tail, c->tail + c->tail_length - keep, keep);
            memcpy(c->tail + keep, bytes, part);
            c->tail_length = keep + part;
        }
        if (!end) return;
        finish_line(c, time, counts);
        count -= part + 1;
        bytes = end + 1;
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    int count = atoi(argv[2]), stalled = argc > 4 ? atoi(argv[4]) : 0;
    double seconds = atof(argv[3]);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    struct client *clients = calloc(count, sizeof *clients);
    char *buffer = malloc(CAPACITY);
    int queue = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < count; i++) {
        clients[i].fd = join(argv[1]);
        clients[i].frame = -1;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &clients[i]};
        epoll_ctl(queue, EPOLL_CTL_ADD, clients[i].fd, &event);
    }
    for (int i = 0; i < stalled; i++) join(argv[1]);
    printf("joined\n");
    fflush(stdout);
    double start = now() + 1, end = start + seconds;
    for (double time = now(); time < end; time = now()) {
        struct epoll_event events[256];
        int ready = epoll_wait(queue, events, 256, 100);
        for (int i = 0; i < ready; i++) {
            struct client *c = events[i].data.ptr;
            int got = read(c->fd, buffer, CAPACITY);
            if (got <= 0) { fprintf(stderr, "the server closed a connection\n"); return 1; }
            double when = now();
            take(c, buffer, got, when, when >= start);
        }
    }
    long messages = 0, bytes = 0, drops = 0, holes = 0, least = -1;
    for (int i = 0; i < count; i++) {
        messages += clients[i].messages;
        bytes += clients[i].bytes;
        drops += clients[i].drops;
        holes += clients[i].holes;
        if (least < 0 || clients[i].messages < least) least = clients[i].messages;
    }
    qsort(gaps, gap_count, sizeof *gaps, ascending);
    double middle = gap_count ? gaps[gap_count / 2] : 0, p99 = gap_count ? gaps[gap_count * 99 / 100] : 0;
    printf("{\"rate\":%.2f,\"least\":%.2f,\"bytes\":%.0f,\"p50\":%.2f,\"p99\":%.2f,\"max\":%.2f,\"drops\":%ld,\"holes\":%ld}\n",
        messages / seconds / count, least / seconds, bytes / seconds / count, 1e3 * middle, 1e3 * p99,
        gap_count ? 1e3 * gaps[gap_count - 1] : 0, drops, holes);
    return 0;
}
