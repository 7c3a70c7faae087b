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

    /// Passes on the bytes of a file that a command needs, in pieces: a file without an end needs no memory. `-` is standard input.
    ///
    /// - Parameter title: The name of the file in messages.
    static func readBlocks(of path: String, title: String, _ body: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
        let descriptor = path == "-" ? standardInput : open(PathText.systemPath(path), O_RDONLY | O_CLOEXEC)
        defer { if descriptor > standardInput { close(descriptor) } }
        while true {
            let block: [UInt8]
            do throws(SystemCallError) {
                guard descriptor >= 0 else { throw SystemCallError.last }
                block = try nextBytes(of: descriptor, count: 1 << 16)
            } catch {
                throw Failure("cannot read \(title): \(error)")
            }
            if block.isEmpty { return }
            try body(block)
        }
    }

    /// Whether bytes contain a text. `firstRange(of:)` takes 0.4 s a megabyte.
    static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        let text = Array(text.utf8)
        // Safe: the search and the comparison end at the end of the array.
        return bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let first = text.first else { return text.isEmpty }
            var start = 0
            while start + text.count <= bytes.count, let found = memchr(base + start, Int32(first), bytes.count - start - text.count + 1) {
                if memcmp(found, text, text.count) == 0 { return true }
                start = UnsafeRawPointer(found) - base + 1
            }
            return false
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
