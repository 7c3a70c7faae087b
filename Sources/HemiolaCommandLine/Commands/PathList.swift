internal import HemiolaSignal
internal import HemiolaSystem

/// Reads names from standard input as they arrive: one per line, or separated by NUL. Used by one thread at a time.
struct PathList: ~Copyable {
    private let wake: System.WakeUpPipe
    private var list: FileList
    private var isAtEnd = false

    /// - Parameter wake: Ends a call of `next` that waits.
    init(isNullSeparated: Bool, wake: System.WakeUpPipe) {
        list = FileList(title: "the list on standard input", isNullSeparated: isNullSeparated)
        self.wake = wake
    }

    /// Waits for the next name.
    ///
    /// - Returns: The name as `PathText` writes it; nil at the end, or when the pipe woke the caller.
    /// - Throws: The list cannot be read, is empty, or is separated in the other way.
    mutating func next() throws(Failure) -> String? {
        while true {
            if let name = try list.next() { return name }
            if isAtEnd {
                let name = try list.finish()
                if list.count == 0 { throw FileList.empty(list.title) }
                return name
            }
            guard System.waitUntilReadable(System.standardInput, orWokenBy: wake) else { return nil }
            do throws(SystemCallError) {
                let bytes = try System.nextBytes(of: System.standardInput, count: 65_536)
                isAtEnd = bytes.isEmpty
                list.append(bytes)
            } catch {
                throw Failure("cannot read \(list.title): \(error)")
            }
        }
    }
}
