// Sends MIDI clock pulses from a bare timer loop, and notes when the pulses of several senders arrive. For midi.py.
//
//     pulses send PATH COUNT NANOSECONDS    one byte F8 to PATH every so many nanoseconds, at absolute times
//     pulses receive DESCRIPTOR...          prints "INDEX NANOSECONDS BYTE" for each byte, until all senders have closed
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int send_pulses(const char *path, long count, long long interval) {
    int descriptor = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY);
    struct termios modes;
    if (descriptor < 0 || tcgetattr(descriptor, &modes) != 0) return 1;
    cfmakeraw(&modes);
    tcsetattr(descriptor, TCSANOW, &modes);
    long long start = now() + interval;
    for (long pulse = 0; pulse < count; pulse++) {
        long long due = start + pulse * interval;
        struct timespec time = {due / 1000000000LL, due % 1000000000LL};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {}
        if (write(descriptor, "\xF8", 1) != 1) return 1;
    }
    return 0;
}

static int receive(int count, char **numbers) {
    struct pollfd requests[8];
    if (count > 8) return 1;
    for (int index = 0; index < count; index++) requests[index] = (struct pollfd){atoi(numbers[index]), POLLIN, 0};
    for (int open = count; open > 0;) {
        if (poll(requests, count, -1) < 0 && errno != EINTR) return 1;
        long long time = now();
        for (int index = 0; index < count; index++) {
            if (requests[index].fd < 0 || !requests[index].revents) continue;
            unsigned char bytes[256];
            ssize_t length = read(requests[index].fd, bytes, sizeof bytes);
            if (length <= 0) {
                requests[index].fd = -1;
                open--;
            }
            for (ssize_t place = 0; place < length; place++) printf("%d %lld %d\n", index, time, bytes[place]);
        }
    }
    return 0;
}

int main(int count, char **words) {
    if (count == 5 && !strcmp(words[1], "send")) return send_pulses(words[2], atol(words[3]), atoll(words[4]));
    if (count > 2 && !strcmp(words[1], "receive")) return receive(count - 2, words + 2);
    return 2;
}
