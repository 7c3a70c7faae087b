package import HemiolaRecords
package import HemiolaSignal
package import HemiolaSystem

/// A program that gets a stream in blocks and answers each one, used by a ``BlockAnalyzer``.
package protocol BlockProgram: Sendable {
    /// Its name in messages.
    var name: String { get }
    /// What happens when it fails.
    var policy: FailurePolicy { get }
    /// What the user can do when it fails, in words that follow the reason: `run it in a shell to see why`.
    var remedy: String { get }
    /// Bytes of a block.
    func blockSize(_ stream: AnalysisFormat) -> Int
    /// Writes a hop into a block.
    func encode(_ hop: borrowing Hop, into block: inout [UInt8])
    /// Starts a run of the program, and waits until it has declared its outputs.
    ///
    /// - Parameters:
    ///   - stream: The format of the stream.
    ///   - isLive: Whether hops come as time passes.
    ///   - report: Receives the lines that it prints on standard error.
    ///   - isCancelled: Whether to stop waiting.
    func start(
        _ stream: AnalysisFormat, isLive: Bool, report: @escaping @Sendable (String) -> Void, isCancelled: @escaping () -> Bool
    ) throws(Problem) -> any BlockSession
    /// Checks the settings with the program, when a pipeline is assembled.
    func check() throws(Problem)
}

extension BlockProgram {
    package func check() throws(Problem) {}
}

/// The conversation with one run of a ``BlockProgram``: a block and its answer at a time.
///
/// Used by one thread at a time. Every method returns at a time limit; the memory for what the program sends is bounded.
package protocol BlockSession: AnyObject {
    /// What the program has declared.
    var declared: AnalyzerOutputs { get }
    /// The values of the last answer, in the order of the row; NaN where there is none.
    var values: [Float] { get }
    /// A warning about the stream, after `finish`; nil: there is none.
    var warning: String? { get }
    /// Sends a block that begins at this frame of the stream, and waits for its answer.
    func exchange(_ block: [UInt8], at frame: Int64) throws(Problem)
    /// The events since the last call, with times in seconds of the stream.
    func takeEvents() -> [Event]
    /// Ends the input of the program, and waits for its last events and its end.
    func finish() throws(Problem)
    /// Ends the program: SIGTERM, then SIGKILL.
    func stop()
}

extension BlockSession {
    package var warning: String? { nil }
}

extension Problem {
    /// What an analyzer of this program says of itself. All other problems of programs are in words that follow the program's name.
    static func complete(_ message: String) -> Problem { Problem(message, at: .analyzer()) }

    /// Whether the message names the program, and says what to do.
    var isComplete: Bool { place != nil }
}

/// Everything that starts a run of a program for one stream.
struct BlockStarter: Sendable {
    var program: any BlockProgram
    var format: AnalysisFormat
    var isLive: Bool
    var warn: @Sendable (String) -> Void
    var isCancelled: @Sendable () -> Bool

    var policy: FailurePolicy { program.policy.resolved(isLive: isLive) }

    /// - Parameter outputs: Those of the first run; nil: this is the first.
    func session(_ outputs: AnalyzerOutputs?, isCancelled: @escaping () -> Bool) throws(Problem) -> any BlockSession {
        let session = try program.start(format, isLive: isLive, report: warn, isCancelled: isCancelled)
        guard outputs == nil || outputs == session.declared else {
            session.stop()
            throw Problem("declares other outputs than when it was started first")
        }
        return session
    }
}

/// How an analyzer exchanges blocks for values.
protocol BlockExchange: AnyObject {
    /// The outputs of the program.
    var outputs: AnalyzerOutputs { get }
    /// Why no further block is processed.
    var failure: Problem? { get }
    /// A warning about the stream, after `finish`.
    var warning: String? { get }
    /// Processes a block that begins at this frame of the stream.
    func send(_ block: [UInt8], at frame: Int64)
    /// The newest values, in the order of the row.
    var values: [Float] { get }
    /// The events since the last call, with times in seconds of the stream.
    func takeEvents() -> [Event]
    /// The blocks that were lost since the last call.
    func takeLosses() -> Int
    /// Ends the program in order. Events may follow.
    func finish()
    /// Ends the program. Called once or several times.
    func stop()
}

extension [UInt8] {
    /// Writes samples from a multiple of four on, as 32-bit floats in little-endian order, and zeros behind them to the end.
    package mutating func encode(_ samples: UnsafeBufferPointer<Float>, at offset: Int) {
        withUnsafeMutableBytes { bytes in
            // Safe: an array of bytes is aligned for words, and the block was allocated for a hop, which has at most as many samples.
            let words = UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).bindMemory(to: UInt32.self)
            for index in 0..<samples.count { words[index] = samples[index].bitPattern.littleEndian }
            for index in samples.count..<words.count { words[index] = 0 }
        }
    }
}
