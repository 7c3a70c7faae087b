#include "CAbletonLink.h"

// HEMIOLA_WITHOUT_LINK: as if the headers were not installed.
#if __has_include(<ableton/Link.hpp>) && __has_include(<asio.hpp>) && !defined(HEMIOLA_WITHOUT_LINK)

#define LINK_PLATFORM_LINUX 1

#include <ableton/Link.hpp>

#include <cmath>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

namespace {

using Micros = std::chrono::microseconds;

double monotonic() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

}  // namespace

struct clink_session {
    ableton::Link link;

    // Joins the session of the network after the delay, on a thread that then ends.
    clink_session(double tempo, double delay) : link(tempo) {
        joiner = std::thread([this, delay] {
            std::unique_lock<std::mutex> lock(mutex);
            if (!ending.wait_for(lock, std::chrono::duration<double>(delay), [this] { return ends; })) link.enable(true);
        });
    }

    ~clink_session() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            ends = true;
        }
        ending.notify_one();
        joiner.join();
    }

    // The time of the session's clock at a time of CLOCK_MONOTONIC.
    Micros clock(double time) const {
        return link.clock().micros() + Micros(std::llround((time - monotonic()) * 1e6));
    }

  private:
    std::mutex mutex;
    std::condition_variable ending;
    bool ends = false;
    std::thread joiner;
};

const char *clink_open(double tempo, bool sharesStart, double delay, clink_session **session) {
    // Sockets, threads and memory may be used up: the headers throw then.
    try {
        auto opened = new clink_session(tempo, delay);
        opened->link.enableStartStopSync(sharesStart);
        *session = opened;
        return nullptr;
    } catch (...) {
        return "Ableton Link cannot be started; raise the limits on open files and processes: ulimit -n, ulimit -u";
    }
}

void clink_close(clink_session *session) { delete session; }

size_t clink_peers(const clink_session *session) { return session->link.numPeers(); }

clink_state clink_read(const clink_session *session, double time, double quantum) {
    auto state = session->link.captureAppSessionState();
    return {state.tempo(), state.beatAtTime(session->clock(time), quantum), state.isPlaying()};
}

void clink_write(clink_session *session, double tempo, double beat, double time, double quantum) {
    auto state = session->link.captureAppSessionState();
    auto at = session->clock(time);
    state.setTempo(tempo, at);
    state.forceBeatAtTime(beat, at, quantum);
    session->link.commitAppSessionState(state);
}

void clink_play(clink_session *session, bool isPlaying, double time) {
    auto state = session->link.captureAppSessionState();
    state.setIsPlaying(isPlaying, session->clock(time));
    session->link.commitAppSessionState(state);
}

#else

// The same functions for a program that was built without the headers: no session can be opened, so the others are never called.

const char *clink_open(double, bool, double, clink_session **) {
    return "this program was built without Ableton Link; install it and build again: apt install ableton-link-dev";
}

void clink_close(clink_session *) {}
size_t clink_peers(const clink_session *) { return 0; }
clink_state clink_read(const clink_session *, double, double) { return {}; }
void clink_write(clink_session *, double, double, double, double) {}
void clink_play(clink_session *, bool, double) {}

#endif
