internal import Glibc
internal import HemiolaSystem

extension System {
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
