internal import Glibc

/// Counts the errors that decoders print, and keeps them out of standard output and the terminal.
///
/// mpg123, which decodes MP3 inside libsndfile, reports a damaged frame by a line on `stderr` and by nothing else: the frame
/// decodes as silence and the call succeeds. Its quiet flag needs mpg123's handle, which libsndfile does not expose. Redirecting
/// descriptor 2 to a pipe would lose the runtime's crash messages, and could not attribute a message to one of several decoders. So only
/// C's `stderr` is replaced, by a stream that calls `receive` on the printing thread: lines printed while that thread decodes are
/// counted for its decoder; all others are written to descriptor 2. C's `stdout` is treated alike, because libsndfile prints
/// the errors of a MIDI sample dump there, which would mix with the records.
struct DecoderMessages {
    /// Number of errors so far.
    private(set) var errorCount = 0

    // Safe: initialised once, before the first read.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "no thread-specific data key: error \(code)")
        return key
    }()

    /// Calls a decoder. Errors that it prints on this thread during the call are counted in `messages`.
    ///
    /// - Complexity: Two calls of the C library; no allocation.
    static func collect<Value>(in messages: UnsafeMutablePointer<Self>, _ call: () -> Value) -> Value {
        pthread_setspecific(key, messages)
        defer { pthread_setspecific(key, nil) }
        return call()
    }

    /// Receives the output of C code to `stdout` and `stderr`: the write function of both streams, see fopencookie(3). The first
    /// argument is the descriptor, which `hemiola_redirect_output` sets.
    static let receive: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int) -> Int = { stream, text, count in
        guard let text, count > 0 else { return 0 }
        if let messages = pthread_getspecific(key) {
            // Safe: only `collect` sets the key, to a value that outlives its call.
            messages.assumingMemoryBound(to: DecoderMessages.self).pointee.count(UnsafeBufferPointer(start: text, count: count))
            return count
        }
        var written = 0
        while written < count {
            // Safe: within the `count` bytes of `text`.
            let step = write(Int32(truncatingIfNeeded: Int(bitPattern: stream)), text + written, count - written)
            if step < 0, errno == EINTR { continue }
            guard step > 0 else { break }
            written += step
        }
        return count
    }

    /// mpg123 prints "error:" for a damaged frame. Its notes and warnings concern tags, lengths and skipped bytes, which this plugin
    /// checks itself.
    private mutating func count(_ text: UnsafeBufferPointer<CChar>) {
        var match = 0
        for character in text {
            if UInt8(truncatingIfNeeded: character) == Self.marker[match] {
                match += 1
                if match == Self.marker.count {
                    errorCount += 1
                    match = 0
                }
            } else {
                match = UInt8(truncatingIfNeeded: character) == Self.marker[0] ? 1 : 0
            }
        }
    }

    private static let marker = Array("error:".utf8)
}
