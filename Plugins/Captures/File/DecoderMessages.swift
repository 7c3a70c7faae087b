internal import Glibc

/// Counts the errors that decoders print while they decode, and keeps them from standard output and the terminal.
///
/// mpg123, which decodes MP3 under libsndfile, reports a damaged frame by a line on `stderr` and by nothing else: the frame
/// decodes as silence and the call succeeds. Its quiet flag needs mpg123's handle, which libsndfile does not give away. Leading
/// the descriptor 2 into a pipe would lose what the runtime prints when it crashes, and could not say which of several
/// decoders has printed. So only C's `stderr` is replaced, by a stream that calls `receive` on the thread that prints: lines
/// that come while that thread decodes are counted for its decoder, all others go to the descriptor 2 as before. The same holds
/// for C's `stdout`, where libsndfile prints what it finds wrong in a MIDI sample dump, among the records.
struct DecoderMessages {
    /// Errors so far.
    private(set) var errorCount = 0

    // Safe: the system fills it in before `key` is read for the first time.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "the system gives no key for a thread's data: error \(code)")
        return key
    }()

    /// Calls a decoder; what it prints meanwhile on this thread is counted in `messages`.
    ///
    /// - Complexity: Two calls of the C library; no allocation.
    static func collect<Value>(in messages: UnsafeMutablePointer<Self>, _ call: () -> Value) -> Value {
        pthread_setspecific(key, messages)
        defer { pthread_setspecific(key, nil) }
        return call()
    }

    /// Takes what C code prints to `stdout` and `stderr`: the write function of both streams, see fopencookie(3). The first
    /// argument is the descriptor, as `hemiola_redirect_output` gives it.
    static let receive: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int) -> Int = { stream, text, count in
        guard let text, count > 0 else { return 0 }
        if let messages = pthread_getspecific(key) {
            // Safe: only `collect` sets the key, to a value that outlives the call it is made in.
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

    /// A damaged frame is an "error:". Notes and warnings are about tags, lengths and bytes that were skipped, which this plugin
    /// looks at itself.
    private mutating func count(_ text: UnsafeBufferPointer<CChar>) {
        var match = 0
        for character in text {
            if UInt8(bitPattern: character) == Self.marker[match] {
                match += 1
                if match == Self.marker.count {
                    errorCount += 1
                    match = 0
                }
            } else {
                match = UInt8(bitPattern: character) == Self.marker[0] ? 1 : 0
            }
        }
    }

    private static let marker = Array("error:".utf8)
}
