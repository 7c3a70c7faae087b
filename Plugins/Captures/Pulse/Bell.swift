internal import Glibc

/// Wakes a thread that waits for another, by a pipe.
final class Bell: Sendable {
    private let reader: Int32
    private let writer: Int32

    init() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0, "there are no descriptors left")
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        _ = Glibc.close(reader)
        _ = Glibc.close(writer)
    }

    /// Wakes whoever waits, or the next who will. Never waits itself: where the pipe is full it has rung often enough.
    func ring() {
        var stroke: UInt8 = 0
        _ = Glibc.write(writer, &stroke, 1)
    }

    /// Waits until it rings, or so long.
    func wait(milliseconds: Int32) {
        var request = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, milliseconds) > 0 else { return }
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { strokes in
            _ = Glibc.read(reader, strokes.baseAddress, strokes.count)
        }
    }
}
