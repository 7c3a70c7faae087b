public import Hemiola
internal import HemiolaProcesses
internal import HemiolaSignal

extension AnalyzerPlugin {
    /// Sends the audio to a program and reads features and events from it.
    public static let exec = AnalyzerPlugin(
        "exec", "Starts a program, sends it the audio, and reads features and events from it.",
        settings: ProgramSettings.declared + [ExecAnalyzer.channels.declared], primary: ProgramSettings.primary
    ) { settings throws(ConfigurationError) in
        ExecAnalyzer(try ProgramSettings(settings), settings[ExecAnalyzer.channels])
    }
}

/// The analyzer `exec`.
///
/// From a file, `process` sends a block and waits for its answer. In real time a thread does that, and `process` only exchanges values
/// with it: a lock for the time of a copy. Unlike other analyzers it allocates memory in `process`.
final class ExecAnalyzer: ExternalAnalyzer {
    enum Channels: String, SettingChoice {
        /// The mono mix.
        case mono
        /// All channels, interleaved.
        case all
    }

    static let channels = Setting(
        "channels", default: Channels.mono, "The samples that the program gets: the mix of the channels (mono), or all, interleaved.")

    private let settings: ProgramSettings
    private let channels: Channels
    private var context = AnalyzerContext(name: "exec")
    private var format = AnalysisFormat(StreamFormat(sampleRate: 1, channelCount: 1))
    private var exchange: (any BlockExchange)?
    private var outputs: ProgramOutputs?
    private var block: [UInt8] = []
    /// Blocks that were lost and not reported yet, and the time of the last report in seconds of the stream.
    private var lostCount = 0
    private var lossTime = -1.0
    /// The end of the last hop, in seconds of the stream.
    private var time = 0.0

    /// Seconds between two reports of lost blocks.
    private static let lossInterval = 1.0

    init(_ settings: ProgramSettings, _ channels: Channels) {
        self.settings = settings
        self.channels = channels
    }

    var failure: AnalyzerError? { exchange?.failure.map { AnalyzerError("\(settings.name): \($0.message)") } }

    func open(_ context: AnalyzerContext) {
        self.context = context
    }

    func close() {
        exchange?.stop()
        exchange = nil
    }

    func prepare(_ stream: AnalysisFormat) throws(AnalyzerError) -> AnalyzerOutputs {
        close()
        format = stream
        block = [UInt8](repeating: 0, count: 4 * stream.hopFrames * channelCount)
        let exchange = try makeExchange()
        self.exchange = exchange
        outputs = exchange.outputs
        (lostCount, lossTime, time) = (0, -1, 0)
        var declared = exchange.outputs.declared
        if context.isLive { declared.latencyFrames += Int64(stream.hopFrames) }
        return declared
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        guard let exchange, let outputs else { return }
        encode(hop)
        exchange.send(block, at: hop.frame)
        let values = exchange.values
        for (_, handle) in outputs.features {
            for index in 0..<handle.count { row[handle, index] = values[handle.offset + index] }
        }
        for event in exchange.takeEvents() { events.append(event) }
        lostCount += exchange.takeLosses()
        time = format.format.seconds(at: hop.frame + Int64(hop.frameCount))
        if time - lossTime >= Self.lossInterval { reportLosses(into: &events) }
    }

    private func reportLosses(into events: inout EventList) {
        guard lostCount > 0 else { return }
        events.append(DropReport(sink: context.name, batches: lostCount), at: time)
        (lostCount, lossTime) = (0, time)
    }

    func finish(into events: inout EventList) {
        guard let exchange else { return }
        exchange.finish()
        for event in exchange.takeEvents() { events.append(event) }
        lostCount += exchange.takeLosses()
        reportLosses(into: &events)
    }

    func reset() {
        guard exchange != nil else { return }
        close()
        exchange = try? makeExchange()
    }

    // MARK: - The program

    private var channelCount: Int { channels == .mono ? 1 : format.channelCount }

    private func makeExchange() throws(AnalyzerError) -> any BlockExchange {
        let name = settings.name
        let start =
            #"{"type":"start","protocol":1,"sample_rate":\#(format.sampleRate),"channels":\#(channelCount),"#
            + #""block_frames":\#(format.hopFrames),"encoding":"f32le","live":\#(context.isLive)}"# + "\n"
        let starter = ProgramStarter(
            settings: settings, start: Array(start.utf8), format: format, policy: settings.policy.resolved(isLive: context.isLive),
            warn: { [warn = context.warn] in warn("\(name): \($0)") }, isCancelled: context.isCancelled)
        do throws(ProgramFault) {
            if context.isLive { return try ParallelExchange(starter) }
            return try WaitingExchange(starter)
        } catch {
            throw AnalyzerError("\(name): \(error.message); run it in a shell to see why")
        }
    }

    /// Writes the samples of a hop, padded with zeros, as 32-bit floats in little-endian order.
    private func encode(_ hop: borrowing Hop) {
        switch channels {
        case .mono: hop.mono.withUnsafeBufferPointer(encode)
        case .all: hop.samples.withUnsafeBufferPointer(encode)
        }
    }

    private func encode(_ samples: UnsafeBufferPointer<Float>) {
        block.withUnsafeMutableBytes { bytes in
            // Safe: the block was allocated for a hop, and a hop has at most as many samples.
            let words = bytes.bindMemory(to: UInt32.self)
            for index in 0..<samples.count { words[index] = samples[index].bitPattern.littleEndian }
            for index in samples.count..<words.count { words[index] = 0 }
        }
    }
}

/// How an analyzer exchanges blocks for values.
protocol BlockExchange: AnyObject {
    /// The outputs of the program.
    var outputs: ProgramOutputs { get }
    /// Why no further block is processed.
    var failure: ProgramFault? { get }
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

/// Everything that starts a run of the program for one stream.
struct ProgramStarter: Sendable {
    var settings: ProgramSettings
    var start: [UInt8]
    var format: AnalysisFormat
    var policy: FailurePolicy
    var warn: @Sendable (String) -> Void
    var isCancelled: @Sendable () -> Bool

    /// - Parameter outputs: Those of the first run; nil: this is the first.
    func session(_ outputs: ProgramOutputs?, isCancelled: @escaping () -> Bool) throws(ProgramFault) -> ProgramSession {
        let session = try ProgramSession(settings, start: start, format: format, report: warn, isCancelled: isCancelled)
        guard outputs == nil || outputs == session.outputs else {
            session.stop()
            throw ProgramFault("declares other outputs than when it was started first")
        }
        return session
    }
}

/// The frames of the stream for frames that the program has counted: blocks may be padded or lost, and audio too.
struct FrameMap {
    /// Where the blocks do not follow each other, in ascending order.
    private var places: [(program: Int64, stream: Int64)] = []
    private let blockFrames: Int64
    private var frames: Int64 = 0
    /// Places that are kept: events are not much older than the newest block.
    private static let capacity = 256

    init(blockFrames: Int) {
        self.blockFrames = Int64(blockFrames)
    }

    /// Notes the next block.
    mutating func append(blockAt frame: Int64) {
        if places.isEmpty || streamFrame(of: frames) != frame {
            if places.count == Self.capacity { places.removeFirst(Self.capacity / 2) }
            places.append((frames, frame))
        }
        frames += blockFrames
    }

    func streamFrame(of frame: Int64) -> Int64 {
        guard let place = places.last(where: { $0.program <= frame }) ?? places.first else { return frame }
        return max(0, place.stream + frame - place.program)
    }
}
