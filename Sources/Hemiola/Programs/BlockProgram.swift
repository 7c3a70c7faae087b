internal import HemiolaRecords
internal import HemiolaSignal
package import HemiolaSystem

/// A program that gets a stream in blocks and answers each one in the protocol of the analyzer `exec`, used by a ``BlockAnalyzer``.
package struct BlockProgram: Sendable {
    /// The samples that a program gets.
    package enum Samples: Sendable {
        /// The mono mix.
        case mono
        /// All channels, interleaved.
        case interleaved
        /// A ``BlockHeader``, the mono mix, and where there are several channels all of them, interleaved. For ``AnalyzerService``, whose
        /// results must be those of the analyzer in this process: it needs each hop as it is, and reports times of the stream.
        case hops
    }

    /// What is started.
    package var command: ProgramCommand
    /// Its name in messages.
    package var name: String
    /// Seconds in which it must read, answer or end.
    package var timeout: Double
    /// What happens when it fails.
    package var policy: FailurePolicy
    /// What the user can do when it fails, in words that follow the reason: `run it in a shell to see why`.
    package var remedy: String
    /// The samples that it gets.
    package var samples: Samples

    /// A program; starts nothing.
    package init(
        _ command: ProgramCommand, name: String, timeout: Double, policy: FailurePolicy, remedy: String, samples: Samples
    ) {
        (self.command, self.name, self.timeout) = (command, name, timeout)
        (self.policy, self.remedy, self.samples) = (policy, remedy, samples)
    }

    /// The line that describes the stream.
    func startLine(_ stream: AnalysisFormat, isLive: Bool) -> [UInt8] {
        let channelCount = samples == .mono ? 1 : stream.channelCount
        let line =
            #"{"type":"start","protocol":1,"sample_rate":\#(stream.sampleRate),"channels":\#(channelCount),"#
            + #""block_frames":\#(stream.hopFrames),"batch_frames":\#(stream.batching.batchFrames),"encoding":"f32le","live":\#(isLive)}"#
        return Array((line + "\n").utf8)
    }

    /// Bytes of a block.
    func blockSize(_ stream: AnalysisFormat) -> Int {
        switch samples {
        case .mono: 4 * stream.hopFrames
        case .interleaved: 4 * stream.hopFrames * stream.channelCount
        case .hops: BlockHeader.size + 4 * stream.hopFrames * (stream.channelCount == 1 ? 1 : 1 + stream.channelCount)
        }
    }

    /// Writes the samples of a hop into a block, as 32-bit floats in little-endian order, and zeros behind them to the end.
    func encode(_ hop: borrowing Hop, into block: inout [UInt8]) {
        switch samples {
        case .mono: hop.mono.withUnsafeBufferPointer { block.encode($0, at: 0) }
        case .interleaved: hop.samples.withUnsafeBufferPointer { block.encode($0, at: 0) }
        case .hops:
            BlockHeader(hop).write(to: &block)
            hop.mono.withUnsafeBufferPointer { block.encode($0, at: BlockHeader.size) }
            guard hop.format.channelCount > 1 else { return }
            hop.samples.withUnsafeBufferPointer { block.encode($0, at: BlockHeader.size + 4 * hop.mono.count) }
        }
    }
}

/// A hop without its samples: numbers in the order of bytes of this computer.
struct BlockHeader: BitwiseCopyable {
    /// Bytes.
    static let size = MemoryLayout<Self>.size

    /// The hop's first frame in the stream.
    var frame: Int64
    /// Frames without the zeros behind them.
    var frameCount: Int32
    /// The hop's place in its batch.
    var indexInBatch: Int32

    /// A whole hop, in batches of one.
    init(frame: Int64, frameCount: Int32) {
        (self.frame, self.frameCount, indexInBatch) = (frame, frameCount, 0)
    }

    init(_ hop: borrowing Hop) {
        (frame, frameCount, indexInBatch) = (hop.frame, Int32(hop.frameCount), Int32(hop.indexInBatch))
    }

    /// The header of a block, which has at least as many bytes.
    init(_ block: UnsafeRawBufferPointer) {
        self = block.loadUnaligned(as: Self.self)
    }

    func write(to block: inout [UInt8]) {
        block.withUnsafeMutableBytes { $0.storeBytes(of: self, as: Self.self) }
    }
}

extension Problem {
    /// What an analyzer of this program says of itself. All other problems of programs are in words that follow the program's name.
    ///
    /// - Parameter setting: The setting of the analyzer that is wrong; nil: none, or it is not known.
    static func complete(_ message: String, setting: String? = nil) -> Problem { Problem(message, at: .analyzer(nil, setting)) }

    /// Whether the message names the program, and says what to do.
    var isComplete: Bool { place != nil }
}

/// Everything that starts a run of a program for one stream.
struct BlockStarter: Sendable {
    var program: BlockProgram
    var format: AnalysisFormat
    var isLive: Bool
    var warn: @Sendable (String) -> Void
    var isCancelled: @Sendable () -> Bool

    var policy: FailurePolicy { program.policy.resolved(isLive: isLive) }

    /// - Parameter outputs: Those of the first run; nil: this is the first.
    func session(_ outputs: AnalyzerOutputs?, isCancelled: @escaping () -> Bool) throws(Problem) -> ProgramSession {
        let session = try ProgramSession(program, format, isLive: isLive, report: warn, isCancelled: isCancelled)
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
    fileprivate mutating func encode(_ samples: UnsafeBufferPointer<Float>, at offset: Int) {
        withUnsafeMutableBytes { bytes in
            // Safe: an array of bytes is aligned for words, and the block was allocated for a hop, which has at most as many samples.
            let words = UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).bindMemory(to: UInt32.self)
            for index in 0..<samples.count { words[index] = samples[index].bitPattern.littleEndian }
            for index in samples.count..<words.count { words[index] = 0 }
        }
    }
}
