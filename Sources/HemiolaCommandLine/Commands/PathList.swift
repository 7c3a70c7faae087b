internal import HemiolaSignal
internal import HemiolaSystem

/// Reads names from standard input as they arrive: one per line, or separated by NUL. Used by one thread at a time.
struct PathList: ~Copyable {
    /// Bytes of the longest name.
    private static let longestName = 1 << 20
    private static let title = "the list on standard input"

    private let isNullSeparated: Bool
    private let wake: System.WakeUpPipe
    private var pending: [UInt8] = []
    /// Bytes of `pending` that were returned, and those without a separator.
    private var start = 0
    private var searched = 0
    private var isAtEnd = false
    private var isFirst = true
    private var hasNull = false
    private var count = 0

    /// - Parameter wake: Ends a call of `next` that waits.
    init(isNullSeparated: Bool, wake: System.WakeUpPipe) {
        self.isNullSeparated = isNullSeparated
        self.wake = wake
    }

    /// Waits for the next name.
    ///
    /// - Returns: The name as `PathText` writes it; nil at the end, or when the pipe woke the caller.
    /// - Throws: The list cannot be read, is empty, or is separated in the other way.
    mutating func next() throws(Failure) -> String? {
        let separator: UInt8 = isNullSeparated ? 0 : UInt8(ascii: "\n")
        while true {
            if let end = pending[searched...].firstIndex(of: separator) {
                let name = pending[start..<end]
                (start, searched) = (end + 1, end + 1)
                if let name = try self.name(name) { return name }
                continue
            }
            searched = pending.count
            guard pending.count - start <= Self.longestName else {
                throw Failure("\(Self.title) has a name of more than \(Self.longestName >> 20) MiB; this is not a list of names")
            }
            if isAtEnd {
                let name = pending[start...]
                (pending, start, searched) = ([], 0, 0)
                if let name = try self.name(name) { return name }
                if count == 0 { throw Failure("\(Self.title) is empty: no input files") }
                return nil
            }
            guard System.waitUntilReadable(System.standardInput, orWokenBy: wake) else { return nil }
            try readMore()
        }
    }

    private mutating func readMore() throws(Failure) {
        pending.removeSubrange(..<start)
        (searched, start) = (searched - start, 0)
        do throws(System.CallError) {
            let bytes = try System.nextBytes(of: System.standardInput, count: 65_536)
            isAtEnd = bytes.isEmpty
            hasNull = hasNull || isNullSeparated && bytes.contains(0)
            pending += bytes
        } catch {
            throw Failure("cannot read \(Self.title): \(error)")
        }
        if isFirst, !isNullSeparated, pending.count >= 3 || isAtEnd {
            isFirst = false
            pending = Array(pending.withoutByteOrderMark)
        }
    }

    /// The text of a name; nil for an empty one.
    private mutating func name(_ bytes: ArraySlice<UInt8>) throws(Failure) -> String? {
        if isNullSeparated {
            if !hasNull, bytes.contains(UInt8(ascii: "\n")) {
                throw Failure("\(Self.title) has lines and no NUL characters; remove --null")
            }
        } else if bytes.contains(0) {
            throw Failure("\(Self.title) has NUL characters; for a list from find -print0, add --null")
        }
        let name = !isNullSeparated && bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
        guard !name.isEmpty else { return nil }
        count += 1
        return PathText.text(of: name)
    }
}
