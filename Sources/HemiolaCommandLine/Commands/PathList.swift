internal import HemiolaSystem

/// Reads names from standard input as they arrive: one per line, or separated by NUL. Used by one thread at a time.
struct PathList: ~Copyable {
    private let wakeUp: WakeUp
    private var list: FileList
    private var isAtEnd = false

    /// - Parameter wakeUp: Ends a call of `next` that waits.
    init(isNullSeparated: Bool, wakeUp: WakeUp) {
        list = FileList(title: "the list on standard input", isNullSeparated: isNullSeparated)
        self.wakeUp = wakeUp
    }

    /// Waits for the next name.
    ///
    /// - Returns: The name as `PathText` writes it; nil at the end, or when the caller was woken.
    /// - Throws: The list cannot be read, is empty, or is separated in the other way.
    mutating func next() throws(Failure) -> String? {
        while true {
            if let name = try list.next() { return name }
            if isAtEnd {
                let name = try list.finish()
                if list.count == 0 { throw FileList.empty(list.title) }
                return name
            }
            if wakeUp.wait(seconds: nil, for: FileDescriptor.standardInput.number).isSignalled { return nil }
            do {
                let bytes = try FileDescriptor.standardInput.next(atMost: 65_536)
                isAtEnd = bytes.isEmpty
                list.append(bytes)
            } catch {
                throw Failure("cannot read \(list.title): \(error)")
            }
        }
    }
}
