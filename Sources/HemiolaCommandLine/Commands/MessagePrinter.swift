internal import Hemiola

/// Writes messages, and a status line below them, on a separate thread: a terminal that is paused with Ctrl-S or a full pipe
/// blocks no other thread. Thread-safe; only `finish` waits, for a bounded time.
///
/// Messages are written in order. Once `capacity` bytes are pending, further messages are dropped and counted; the count is
/// printed as soon as the output accepts text again. Of the status line only the newest state is kept.
///
/// `@unchecked Sendable`: `state` is accessed only under the condition's lock.
final class MessagePrinter: @unchecked Sendable {
    /// Bytes of messages that may be pending.
    static let capacity = 1 << 20
    /// Bytes that are written at once, so that `finish` sees that a slow output makes progress.
    private static let chunk = 1 << 14

    private struct State {
        var messages: [String] = []
        var byteCount = 0
        var dropped = 0
        /// The current status line; nil: none.
        var statusLine: String?
        /// Whether the status line differs from the one on the screen.
        var isStatusNew = false
        /// Whether a status line is on the screen, after what is being written.
        var isStatusShown = false
        /// Whether the status line was removed for good.
        var isStatusOver = false
        var isWriting = false
        /// Chunks that were written.
        var writtenChunks = 0
        var hasStarted = false
        /// Whether `finish` timed out: a second call does not wait again.
        var isGivenUp = false
        /// Shows messages that wait because something else fills the terminal; nil: messages are written.
        var showHeld: (@Sendable (String) -> Void)?

        var isPending: Bool { showHeld == nil && (isWriting || dropped > 0 || !messages.isEmpty || isStatusNew) }

        /// What is written next.
        ///
        /// - Returns: nil when nothing is pending, or another thread is writing.
        mutating func takeChunk(_ size: Int) -> Chunk? {
            guard !isWriting, isPending else { return nil }
            isWriting = true
            var text = ""
            var taken = 0
            while taken < messages.count, taken == 0 || text.utf8.count < size {
                text += messages[taken]
                taken += 1
            }
            messages.removeFirst(taken)
            byteCount -= text.utf8.count
            if messages.isEmpty, dropped > 0 {
                let messages = dropped == 1 ? "1 message was" : "\(dropped) messages were"
                text += "hemiola: \(messages) not printed: the terminal or pipe accepted no text\n"
                dropped = 0
            }
            // The status line is drawn again below the messages.
            let drawsStatus = messages.isEmpty && (isStatusNew || statusLine != nil && !text.isEmpty)
            let erasesStatus = isStatusShown && (!text.isEmpty || drawsStatus && statusLine == nil)
            if erasesStatus { isStatusShown = false }
            guard drawsStatus else { return Chunk(erasesStatus: erasesStatus, messages: text) }
            isStatusNew = false
            if statusLine != nil { isStatusShown = true }
            return Chunk(erasesStatus: erasesStatus, messages: text, statusLine: statusLine)
        }
    }

    /// What is written at once, one after the other.
    private struct Chunk {
        var erasesStatus: Bool
        var messages: String
        /// nil: it is not drawn again.
        var statusLine: String?
    }

    /// Signals that text is pending, or that a chunk was written.
    private let condition = Condition()
    private var state = State()
    private let hasThread: Bool
    private let write: @Sendable (String) -> Void
    private let writeStatus: @Sendable (String) -> Void

    /// - Parameters:
    ///   - hasThread: false: the caller's thread writes, for tests.
    ///   - write: Writes messages. May block.
    ///   - writeStatus: Writes the status line. May block.
    init(
        hasThread: Bool = true, write: @escaping @Sendable (String) -> Void,
        writeStatus: @escaping @Sendable (String) -> Void
    ) {
        self.hasThread = hasThread
        self.write = write
        self.writeStatus = writeStatus
    }

    /// Prints a message, which ends with a newline.
    ///
    /// - Parameter isFigure: Whether it belongs to the message before, and is not shown where messages wait.
    func print(_ message: String, isFigure: Bool = false) {
        let showHeld = condition.locked {
            let count = message.utf8.count
            if state.byteCount + count <= Self.capacity, state.dropped == 0 {
                state.messages.append(message)
                state.byteCount += count
            } else {
                state.dropped += 1
            }
            return state.showHeld
        }
        guard let showHeld else { return wake() }
        if !isFigure { showHeld(String(message.dropLast())) }
    }

    /// Lets messages wait, because something else fills the terminal, until `release`. Those that came before are written first.
    ///
    /// - Parameter show: Receives each message, without its newline.
    func hold(_ show: @escaping @Sendable (String) -> Void) {
        finish()
        condition.locked { state.showHeld = show }
    }

    /// Writes the messages that have waited.
    func release() {
        condition.locked { state.showHeld = nil }
        wake()
    }

    /// Draws the status line, or draws it again.
    func show(status line: String) {
        let isShown = condition.locked {
            guard !state.isStatusOver else { return false }
            (state.statusLine, state.isStatusNew) = (line, true)
            return true
        }
        if isShown { wake() }
    }

    /// Removes the status line; none is drawn afterwards.
    func endStatus() {
        let wasShown = condition.locked {
            state.isStatusOver = true
            guard state.statusLine != nil else { return false }
            (state.statusLine, state.isStatusNew) = (nil, true)
            return true
        }
        if wasShown { wake() }
    }

    /// Waits until all text is written, the output has accepted nothing for `timeout` seconds, or `limit` seconds have passed.
    ///
    /// - Returns: Whether all text is written.
    @discardableResult
    func finish(timeout: Double = 2, limit: Double = 10) -> Bool {
        let deadline = Deadline(after: limit)
        return condition.locked {
            while hasThread, state.isPending, !state.isGivenUp {
                let written = state.writtenChunks
                condition.wait(within: min(timeout, deadline.rest)) { state.isPending && state.writtenChunks == written }
                state.isGivenUp = state.isPending && (state.writtenChunks == written || deadline.hasPassed)
            }
            return !state.isPending
        }
    }

    // MARK: - The thread that writes

    /// Starts the thread at the first message: most runs print none.
    private func wake() {
        guard hasThread else { return writeAll() }
        let isNew = condition.locked {
            defer { state.hasStarted = true }
            condition.broadcast()
            return !state.hasStarted
        }
        guard isNew else { return }
        do {
            try startThread(for: "the messages") { [self] in
                while true {
                    writeAll()
                    condition.locked {
                        while !state.isPending { condition.wait() }
                    }
                }
            }
        } catch {
            // The calling thread writes, and the next message tries again.
            condition.locked { state.hasStarted = false }
            writeAll()
        }
    }

    private func writeAll() {
        while let chunk = condition.locked({ state.takeChunk(Self.chunk) }) {
            if chunk.erasesStatus { writeStatus("\r\u{1B}[J") }
            if !chunk.messages.isEmpty { write(chunk.messages) }
            if let line = chunk.statusLine { writeStatus(Self.statusSequence(line)) }
            condition.locked {
                state.isWriting = false
                state.writtenChunks += 1
                condition.broadcast()
            }
        }
    }

    /// Leaves the cursor at the start of the line: when a narrower window wraps the old line, "erase below" removes all of it.
    /// Automatic wrapping is off meanwhile, because the window may have been resized since its width was read.
    private static func statusSequence(_ line: String) -> String { "\r\u{1B}[?7l\(line)\u{1B}[J\u{1B}[?7h\r" }
}
