internal import Glibc
internal import HemiolaSystem

extension System {
    /// The name of an input in messages: the path, or `standard input` for `-`.
    static func title(of path: String) -> String {
        path == "-" ? "standard input" : path
    }

    /// The bytes of a file that a command needs; `-` is standard input.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes to read.
    ///   - title: The name of the file in messages; nil: its path.
    ///   - option: The beginning of a message: the option that names the file.
    static func input(
        _ path: String, atMost limit: Int = .max, title: String? = nil, option: String = ""
    ) throws(Failure) -> [UInt8] {
        do {
            return try contents(of: path, atMost: limit)
        } catch {
            throw Failure("\(option)cannot read \(title ?? self.title(of: path)): \(error)")
        }
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
