internal import Glibc
internal import HemiolaSignal
internal import HemiolaSystem

extension System {
    /// Waits until a descriptor can be read, or has ended, or a pipe wakes the caller.
    ///
    /// - Returns: false if the pipe woke the caller.
    static func waitUntilReadable(_ descriptor: Int32, orWokenBy pipe: WakeUpPipe) -> Bool {
        var requests = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: pipe.reader, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&requests, 2, -1) < 0, errno == EINTR {}
        return requests[1].revents == 0
    }

    /// The next bytes of a descriptor, which waits for them; empty at the end.
    static func nextBytes(of descriptor: Int32, count: Int) throws(SystemCallError) -> [UInt8] {
        var number: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let result = readOnce(descriptor, buffer)
            number = result < 0 ? errno : 0
            filled = max(0, result)
        }
        if number == EINTR || number == EAGAIN { return try nextBytes(of: descriptor, count: count) }
        guard number == 0 else { throw SystemCallError(number: number) }
        return bytes
    }
}

// A function of the file, because `System` has a member of the name of the C function.

private func readOnce(_ descriptor: Int32, _ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
