import Glibc

extension TemporaryFolder {
    /// Waits until a condition on the folder's files holds, and checks it again with each change of them.
    ///
    /// - Parameters:
    ///   - what: What is waited for, for the error.
    ///   - name: A folder in it whose files change; it must exist. nil: the folder itself.
    /// - Throws: The condition did not hold within a minute.
    public func wait(for what: String, in name: String? = nil, until condition: () throws -> Bool) throws {
        try FolderEvents(name.map { self($0) } ?? path).wait(for: what, until: condition)
    }
}

/// The changes of a folder's files, as inotify reports them.
public struct FolderEvents: ~Copyable {
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    /// Seconds after which a condition does not hold any more: only a test that fails waits for so long.
    private static let limit = 60.0

    private let descriptor: Int32

    /// - Parameter reads: Whether reading its files counts as a change too.
    public init(_ folder: String, reads: Bool = false) throws {
        descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        let changes = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
        let events = reads ? changes | IN_ACCESS : changes
        guard inotify_add_watch(descriptor, folder, UInt32(events)) >= 0 else {
            throw Failure(description: "cannot watch \(folder): \(String(cString: strerror(errno)))")
        }
    }

    deinit {
        close(descriptor)
    }

    public func wait(for what: String, until condition: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(Self.limit)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while try !condition() {
            let rest = (end - ContinuousClock.now) / .milliseconds(1)
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard rest > 0, poll(&request, 1, Int32(rest) + 1) > 0 else { throw Failure(description: "nothing came of: \(what)") }
            while read(descriptor, &buffer, buffer.count) > 0 {}
        }
    }
}
