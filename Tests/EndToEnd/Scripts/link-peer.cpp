// A peer of an Ableton Link session, straight from the headers: peer BPM. Prints "TIME PEERS BPM PHASE PLAYING" every 20 ms: the time of
// CLOCK_MONOTONIC in seconds, and the phase in a bar of four beats at that time. Reads commands, one a line: "tempo BPM", "shift BEATS"
// (moves the beats), "leave", "join". Ends with its input.
#define LINK_PLATFORM_LINUX 1
#include <ableton/Link.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>

int main(int count, char **arguments) {
    ableton::Link link(count > 1 ? std::atof(arguments[1]) : 120);
    link.enableStartStopSync(true);
    link.enable(true);
    std::atomic<bool> ends{false};
    std::thread printer([&] {
        while (!ends) {
            // The two clocks are read as close together as possible.
            timespec time;
            auto now = link.clock().micros();
            clock_gettime(CLOCK_MONOTONIC, &time);
            auto state = link.captureAppSessionState();
            std::printf("%.6f %zu %.4f %.6f %d\n", double(time.tv_sec) + double(time.tv_nsec) * 1e-9, link.numPeers(), state.tempo(),
                        state.phaseAtTime(now, 4), int(state.isPlaying()));
            std::fflush(stdout);
            // The phase changes all the time: it is sampled.
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    });
    for (std::string line; std::getline(std::cin, line);) {
        auto now = link.clock().micros();
        auto state = link.captureAppSessionState();
        if (line.rfind("tempo ", 0) == 0) {
            state.setTempo(std::atof(line.c_str() + 6), now);
            link.commitAppSessionState(state);
        } else if (line.rfind("shift ", 0) == 0) {
            state.forceBeatAtTime(state.beatAtTime(now, 4) + std::atof(line.c_str() + 6), now, 4);
            link.commitAppSessionState(state);
        } else if (line == "leave" || line == "join") {
            link.enable(line == "join");
        }
    }
    ends = true;
    printer.join();
}
