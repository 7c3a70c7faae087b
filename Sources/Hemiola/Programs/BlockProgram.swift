internal import HemiolaRecords
internal import HemiolaSignal
public import HemiolaSystem

/// A program that computes features and events for an analyzer: it gets the stream in blocks and answers each one, in the protocol of the
/// analyzer `exec`.
///
///     AnalyzerPlugin(about, settings: MeterSettings.self) { settings throws(Problem) in
///         BlockProgram(
///             .arguments(["meter", "\(settings.gate)"]), name: "meter", timeout: 10, policy: .fail,
///             remedy: "report it to its author", samples: .mono
///         ).makeAnalyzer()
///     }
///
/// `AnalyzerPlugin.serve` is the other side of the protocol.
public struct BlockProgram: Sendable {
    /// The samples that a program gets.
    public enum Samples: Sendable {
        /// The mono mix.
        case mono
        /// All channels, interleaved.
        case interleaved
    }

    /// What is started.
    var command: ProgramCommand
    /// Its name in messages.
    var name: String
    /// Seconds in which it must read, answer or end.
    var timeout: Double
    /// What happens when it fails.
    var policy: FailurePolicy
    /// What the user can do when it fails, in words that follow the reason: `run it in a shell to see why`.
    var remedy: String
    /// The samples that it gets.
    var samples: Samples
    /// Whether it is Hemiola itself, which can check the settings without a stream.
    var isHemiola: Bool

    /// A program; starts nothing.
    ///
    /// - Parameters:
    ///   - command: What is started.
    ///   - name: Its name in messages.
    ///   - timeout: Seconds in which it must read, answer or end. From files, processor time that it may use for that.
    ///   - policy: What happens when it fails: with `fail`, it is started again in real time.
    ///   - remedy: What the user can do when it fails, in words that follow the reason: `run it in a shell to see why`.
    ///   - samples: The samples that it gets.
    ///   - isHemiola: Whether it is `hemiola` itself: then it checks the settings when the analyzer is made, and a command that cannot be
    ///     started means that it is not installed.
    public init(
        _ command: ProgramCommand, name: String, timeout: Double, policy: FailurePolicy, remedy: String, samples: Samples,
        isHemiola: Bool = false
    ) {
        (self.command, self.name, self.timeout) = (command, name, timeout)
        (self.policy, self.remedy, self.samples) = (policy, remedy, samples)
        self.isHemiola = isHemiola
    }

    /// An analyzer of what the program answers. A crash of the program is survived.
    ///
    /// From a file, `process` sends a block and waits for its answer. In real time a thread does that, and `process` only exchanges values
    /// with it: what is late or lost is counted and reported. Unlike other analyzers it allocates memory in `process`.
    public func makeAnalyzer() -> any ExternalAnalyzer { BlockAnalyzer(self) }

    /// The line that describes the stream.
    func startLine(_ stream: AnalysisFormat, isLive: Bool) -> [UInt8] {
        let channelCount = samples == .mono ? 1 : stream.channelCount
        let line =
            #"{"type":"start","protocol":1,"sample_rate":\#(stream.sampleRate),"channels":\#(channelCount),"#
            + #""block_frames":\#(stream.hopFrames),"batch_frames":\#(stream.batching.batchFrames),"encoding":"f32le","live":\#(isLive)}"#
        return Array((line + "\n").utf8)
    }

    /// Bytes of a block.
    ///
    /// - Parameter inHops: Whether the program has declared that it reads hops: a ``BlockHeader``, the mono mix, and where it gets several
    ///   channels all of them, interleaved.
    func blockSize(_ stream: AnalysisFormat, inHops: Bool) -> Int {
        let channelCount = samples == .mono ? 1 : stream.channelCount
        return inHops ? BlockHeader.blockSize(stream.hopFrames, channelCount) : 4 * stream.hopFrames * channelCount
    }

    /// Writes the samples of a hop into a block, as 32-bit floats in little-endian order, and zeros behind them to the end.
    func encode(_ hop: borrowing Hop, inHops: Bool, into block: inout [UInt8]) {
        let hasMix = samples == .mono || inHops
        if inHops { BlockHeader(hop).write(to: &block) }
        let start = inHops ? BlockHeader.size : 0
        if hasMix { hop.mono.withUnsafeBufferPointer { block.encode($0, at: start) } }
        guard samples == .interleaved, !hasMix || hop.format.channelCount > 1 else { return }
        hop.samples.withUnsafeBufferPointer { block.encode($0, at: start + (hasMix ? 4 * hop.mono.count : 0)) }
    }
}

/// A hop without its samples: numbers in the order of bytes of this computer. It begins the blocks of programs that declare that they read
/// hops, such as those of ``AnalyzerService``, whose results must be those of the analyzer in this process.
struct BlockHeader: BitwiseCopyable {
    /// Bytes.
    static let size = MemoryLayout<Self>.size

    /// Bytes of a block: the header, the mix, and of several channels all of them.
    static func blockSize(_ hopFrames: Int, _ channelCount: Int) -> Int {
        size + 4 * hopFrames * (channelCount == 1 ? 1 : 1 + channelCount)
    }

    /// The hop's first frame in the stream.
    var frame: Int64
    /// Frames without the zeros behind them.
    var frameCount: Int32
    /// The hop's place in its batch.
    var indexInBatch: Int32

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
    static func complete(_ message: String) -> Problem { Problem(message, at: .analyzer(nil, nil)) }

    /// Whether the message names the program, and says what to do.
    var isComplete: Bool { place != nil }
}

/// Everything that starts a run of a program for one stream.
struct BlockStarter: Sendable {
    var program: BlockProgram
    var format: AnalysisFormat
    var isLive: Bool
    var clock: any MonotonicClock
    var warn: @Sendable (String) -> Void
    var isCancelled: @Sendable () -> Bool

    /// - Parameter outputs: Those of the first run; nil: this is the first.
    func session(_ outputs: ProgramOutputs?, isCancelled: @escaping () -> Bool) throws(Problem) -> ProgramSession {
        let session = try ProgramSession(program, format, isLive: isLive, report: warn, isCancelled: isCancelled)
        guard outputs == nil || outputs == session.outputs else {
            session.stop()
            throw Problem("declares other outputs than when it was started first")
        }
        return session
    }
}

/// How an analyzer exchanges blocks for values.
protocol BlockExchange: AnyObject {
    /// The outputs of the program.
    var outputs: ProgramOutputs { get }
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
