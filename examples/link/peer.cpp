// A peer of the Ableton Link session: prints the number of peers, the tempo and the place in the bar of four beats, ten times per second.
// Ends after the number of seconds that is given.
//
//     g++ -std=c++17 -pthread peer.cpp -o peer && ./peer 60
#define LINK_PLATFORM_LINUX 1
#include <ableton/Link.hpp>

#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int count, char **arguments) {
    ableton::Link link(100);
    link.enable(true);
    const int lines = 10 * (count > 1 ? std::atoi(arguments[1]) : 60);
    for (int line = 0; line < lines; line++) {
        const auto state = link.captureAppSessionState();
        std::printf("%zu peers  %.2f BPM  beat %.1f\n", link.numPeers(), state.tempo(), 1 + state.phaseAtTime(link.clock().micros(), 4));
        std::fflush(stdout);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}
