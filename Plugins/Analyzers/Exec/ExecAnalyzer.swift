public import Hemiola
internal import HemiolaSignal
internal import HemiolaSystem

extension AnalyzerPlugin {
    /// Sends the audio to a program and reads features and events from it.
    public static let exec = AnalyzerPlugin(
        "exec", "Starts a program, sends it the audio, and reads features and events from it.",
        settings: ExecAnalyzerSettings.self, primary: "command"
    ) { settings throws(Problem) in
        try settings.program.check()
        return BlockAnalyzer(ExecProgram(settings: settings))
    }
}

/// The settings of the analyzer `exec`.
struct ExecAnalyzerSettings: PluginSettings {
    enum Channels: String, CaseIterable {
        /// The mono mix.
        case mono
        /// All channels, interleaved.
        case all
    }

    var program = ProgramSettings()
    var channels = Setting.choice(
        "channels", default: Channels.mono, "The samples that the program gets: the mix of the channels (mono), or all, interleaved.")
}

/// The program of the analyzer `exec`.
struct ExecProgram: BlockProgram {
    let settings: ExecAnalyzerSettings

    var name: String { settings.program.name }
    var policy: FailurePolicy { settings.program.policy }
    var remedy: String { "run it in a shell to see why" }

    func blockSize(_ stream: AnalysisFormat) -> Int { 4 * stream.hopFrames * channelCount(stream) }

    private func channelCount(_ stream: AnalysisFormat) -> Int { settings.channels == .mono ? 1 : stream.channelCount }

    func start(
        _ stream: AnalysisFormat, isLive: Bool, report: @escaping @Sendable (String) -> Void, isCancelled: @escaping () -> Bool
    ) throws(Problem) -> any BlockSession {
        let start =
            #"{"type":"start","protocol":1,"sample_rate":\#(stream.sampleRate),"channels":\#(channelCount(stream)),"#
            + #""block_frames":\#(stream.hopFrames),"encoding":"f32le","live":\#(isLive)}"# + "\n"
        return try ProgramSession(settings.program, start: Array(start.utf8), format: stream, report: report, isCancelled: isCancelled)
    }

    /// Writes the samples of a hop, padded with zeros, as 32-bit floats in little-endian order.
    func encode(_ hop: borrowing Hop, into block: inout [UInt8]) {
        switch settings.channels {
        case .mono: hop.mono.withUnsafeBufferPointer { block.encode($0, at: 0) }
        case .all: hop.samples.withUnsafeBufferPointer { block.encode($0, at: 0) }
        }
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
