internal import Hemiola

/// A Vamp plugin that processes a stream: blocks of the audio, steps, and the times of the features.
///
/// A stream is a sequence of segments without a gap. The plugin gets each as a stream of its own that begins at time 0; the times of its
/// features count from the start of the whole stream.
final class VampStream {
    /// What is run, and how.
    struct Configuration: Sendable, Hashable {
        /// The name of the library, or its path.
        var library: String
        /// The plugin's name for programs.
        var plugin: String
        /// The name of the only output that is used; nil: all.
        var output: String?
        /// The name of a program; nil: none is selected.
        var program: String?
        /// Values by name of the parameter: numbers, or names of values.
        var parameters: [Parameter] = []
        /// Frames per block; nil: as the plugin prefers.
        var block: Int?
        /// Frames from one block to the next; nil: as the plugin prefers.
        var step: Int?
        /// The channels that the plugin gets.
        var channels = Channels.automatic

        /// A parameter with its value.
        struct Parameter: Sendable, Hashable {
            /// The parameter's identifier.
            var name: String
            /// A number, or the name of a value.
            var value: String
        }
    }

    /// The channels that a plugin gets.
    enum Channels: Sendable, Hashable {
        /// Those of the stream if the plugin accepts their number, else the mono mix.
        case automatic
        /// The mono mix.
        case mix
        /// Those of the stream.
        case all
        /// One channel, 0….
        case one(Int)
    }

    /// Frames per block and per step of a plugin without a preference.
    static let defaultBlock = 1024
    /// The largest block and step, in frames.
    static let largestBlock = 1 << 20
    /// Operations per frame that the step and block that a plugin prefers may take: copies, and for spectra multiplications. A block
    /// of 16384 frames with a step of 64 has 256 and 8192.
    private static let largestCost = 1 << 16

    /// The plugin.
    let plugin: VampPluginDescription
    /// All outputs of the plugin, in the order in which features name them.
    let outputs: [VampOutput]
    /// Whether each output is used.
    let isUsed: [Bool]
    /// Frames per block.
    let block: Int
    /// Frames from one block to the next.
    let step: Int
    /// For each channel of the plugin the channel of the stream; nil: all get the mono mix.
    let sources: [Int]?

    private var instance: VampInstance
    private var transform: BlockTransform?
    private let sampleRate: Int
    private let channelCount: Int
    // Unsafe: the plugin reads these buffers through pointers. One per channel, of `block` frames; and what the plugin gets.
    private let frames: [UnsafeMutablePointer<Float>]
    private let spectra: [UnsafeMutablePointer<Float>]
    private let pointers: UnsafeMutablePointer<UnsafePointer<Float>?>
    /// Frames in the buffers, and frames that precede the next block when steps are longer than blocks.
    private var filled = 0
    private var skipped = 0
    /// The next block's first frame in the segment, the segment's first frame in the stream, and the segment's frames so far.
    private var start: Int64 = 0
    private var segmentStart: Int64 = 0
    private var segmentFrames: Int64 = 0
    private var isOpen = false
    /// The number of the next feature of each output of fixed sample rate.
    private var counts: [Int64]

    /// A feature of the stream.
    struct Item {
        /// The output's place in ``VampStream/outputs``.
        var output: Int
        /// The time since the start of the stream, in seconds.
        var time: Double
        /// Whether it is the result of a step, and not one of the features that remain at the end.
        var isOfStep: Bool
        /// The feature.
        var feature: VampFeature
    }

    /// Loads the library, and makes and initialises an instance.
    init(_ configuration: Configuration, _ format: StreamFormat) throws(Problem) {
        let library = try VampLibrary.load(configuration.library)
        var instance = try VampInstance(configuration.plugin, of: library, sampleRate: format.sampleRate)
        plugin = instance.plugin
        sampleRate = format.sampleRate
        if let program = configuration.program { instance.selectProgram(try instance.plugin.program(program)) }
        for parameter in configuration.parameters {
            let (index, value) = try instance.plugin.parameter(parameter)
            instance.setParameter(index, to: value)
        }
        let isSpectral = plugin.inputDomain == .frequency
        (step, block) = try Self.sizes(instance, configuration)
        let counts = instance.channelCounts
        guard counts.lowerBound <= StreamFormat.channelCounts.upperBound else {
            throw Problem(
                "\(plugin.key) declares \(counts.lowerBound) channels, more than \(StreamFormat.channelCounts.upperBound); "
                    + "install another version of the plugin")
        }
        sources = try Self.sources(configuration.channels, format.channelCount, counts, plugin)
        channelCount = sources?.count ?? max(1, counts.lowerBound)
        guard instance.initialise(channelCount: channelCount, step: step, block: block) else {
            let channels = "\(channelCount) channel\(channelCount == 1 ? "" : "s")"
            throw Problem(
                "\(plugin.key) refuses \(channels) at \(sampleRate) Hz in blocks of \(block) frames with a step of \(step); "
                    + "set block=, step= or channels=, or the parameters")
        }
        let outputs = try instance.outputs()
        self.outputs = outputs
        if let name = configuration.output, !outputs.contains(where: { $0.identifier == name }) {
            throw plugin.unknown("output", name, outputs.map(\.identifier))
        }
        isUsed = outputs.map { !$0.identifier.isEmpty && (configuration.output == nil || configuration.output == $0.identifier) }
        self.counts = Array(repeating: 0, count: outputs.count)
        transform = isSpectral ? BlockTransform(size: block) : nil
        self.instance = instance
        let (block, channelCount) = (block, channelCount)
        frames = (0..<channelCount).map { _ in Self.zeros(block) }
        spectra = isSpectral ? (0..<channelCount).map { _ in Self.zeros(block + 2) } : []
        pointers = .allocate(capacity: channelCount)
        for channel in 0..<channelCount {
            (pointers + channel).initialize(to: UnsafePointer(isSpectral ? spectra[channel] : frames[channel]))
        }
    }

    deinit {
        for buffer in frames + spectra { buffer.deallocate() }
        pointers.deallocate()
    }

    private static func zeros(_ count: Int) -> UnsafeMutablePointer<Float> {
        let buffer = UnsafeMutablePointer<Float>.allocate(capacity: count)
        buffer.initialize(repeating: 0, count: count)
        return buffer
    }

    /// The step and the block: as configured, else as the plugin prefers, else 1024 frames, which overlap by half in the frequency domain.
    private static func sizes(
        _ instance: borrowing VampInstance, _ configuration: Configuration
    ) throws(Problem) -> (step: Int, block: Int) {
        let isSpectral = instance.plugin.inputDomain == .frequency
        let preferred = (step: instance.preferredStep, block: instance.preferredBlock)
        var block = configuration.block ?? preferred.block
        if block == 0 { block = configuration.step.map { isSpectral ? 2 * $0 : $0 } ?? defaultBlock }
        if isSpectral, configuration.block == nil { block += block % 2 }
        var step = configuration.step ?? preferred.step
        if step == 0 { step = isSpectral ? block / 2 : block }
        if configuration.step == nil, configuration.block == nil, step > block { block = isSpectral ? 2 * step : step }
        guard (1...largestBlock).contains(step), (1...largestBlock).contains(block) else {
            throw Problem("\(instance.plugin.key) prefers blocks of \(block) frames with a step of \(step); set block= and step=")
        }
        if isSpectral, block % 2 != 0 {
            throw Problem("\(instance.plugin.key) reads spectra, which need an even block, not \(block) frames; use \(block + 1)")
        }
        let cost = block * (isSpectral ? BlockTransform.factors(of: block).reduce(0, +) : 1) / step
        guard cost <= largestCost || configuration.block != nil || configuration.step != nil else {
            throw Problem(
                "\(instance.plugin.key) prefers blocks of \(block) frames with a step of \(step), which take too long; set block= and step="
            )
        }
        return (step, block)
    }

    private static func sources(
        _ channels: Channels, _ count: Int, _ accepted: ClosedRange<Int>, _ plugin: VampPluginDescription
    ) throws(Problem) -> [Int]? {
        switch channels {
        case .mix: return nil
        case .automatic: return count > 1 && accepted.contains(count) ? Array(0..<count) : nil
        case .all:
            guard accepted.contains(count) else {
                let range = accepted.count == 1 ? "\(accepted.lowerBound)" : "\(accepted.lowerBound) to \(accepted.upperBound)"
                throw Problem("\(plugin.key) reads \(range) channels, not \(count); use channels=mix or channel=")
            }
            return Array(0..<count)
        case .one(let channel):
            guard channel < count else {
                throw Problem("\(plugin.key): there is no channel \(channel + 1), the input has \(count); use another channel=")
            }
            return Array(repeating: channel, count: max(1, accepted.lowerBound))
        }
    }

    // MARK: - Processing

    /// Processes frames that follow the last ones.
    ///
    /// - Parameters:
    ///   - samples: The interleaved samples: of the stream's channels, or the mono mix (see ``sources``).
    ///   - stride: Samples per frame.
    ///   - count: The number of frames.
    ///   - first: The first frame's number in the stream. A segment begins with it if none is open.
    ///   - body: Called for each feature of a used output.
    func process(_ samples: Span<Float>, stride: Int, count: Int, from first: Int64, _ body: (Item) -> Void) {
        if !isOpen {
            (isOpen, segmentStart, segmentFrames, start, filled, skipped) = (true, first, 0, 0, 0, 0)
            for index in counts.indices { counts[index] = 0 }
        }
        segmentFrames += Int64(count)
        samples.withUnsafeBufferPointer { samples in
            var next = 0
            while next < count {
                if skipped > 0 {
                    let part = min(skipped, count - next)
                    skipped -= part
                    next += part
                    continue
                }
                let part = min(block - filled, count - next)
                for channel in 0..<channelCount {
                    let (target, source) = (frames[channel] + filled, sources?[channel] ?? 0)
                    for index in 0..<part { target[index] = samples[(next + index) * stride + source] }
                }
                filled += part
                next += part
                if filled == block { processBlock(body) }
            }
        }
    }

    /// Ends the segment: processes every block that begins before its end, with 0 for the missing frames, then passes the features that
    /// remain. Nothing, if no segment is open.
    func endSegment(_ body: (Item) -> Void) {
        guard isOpen else { return }
        padBlocks(body)
        let time = time.value
        instance.remainingFeatures { pass($0, $1, at: time, isOfStep: false, body) }
        instance.reset()
        isOpen = false
    }

    /// Processes the blocks that begin before the end of the segment, which must be known to end here.
    func padBlocks(_ body: (Item) -> Void) {
        while start < segmentFrames {
            for buffer in frames { (buffer + filled).update(repeating: 0, count: block - filled) }
            filled = block
            processBlock(body)
        }
    }

    /// The time of the next block: that of its first frame, for a spectrum that of the centre of its window.
    private var time: VampTime {
        VampTime(frame: start + (transform == nil ? 0 : Int64(block / 2)), sampleRate: sampleRate)
    }

    private func processBlock(_ body: (Item) -> Void) {
        if transform != nil {
            for channel in 0..<channelCount { transform?.transform(frames[channel], into: spectra[channel]) }
        }
        let time = time
        let seconds = time.value
        instance.process(pointers, at: time) { pass($0, $1, at: seconds, isOfStep: true, body) }
        start += Int64(step)
        if step < block {
            for buffer in frames { buffer.update(from: buffer + step, count: block - step) }
            filled = block - step
        } else {
            (filled, skipped) = (0, step - block)
        }
    }

    private func pass(_ output: Int, _ feature: VampFeature, at step: Double, isOfStep: Bool, _ body: (Item) -> Void) {
        guard isUsed[output] else { return }
        var time = step
        switch outputs[output].sampleType {
        case .oneSamplePerStep: if !isOfStep, let own = feature.time { time = own.value }
        case .variableSampleRate: if let own = feature.time { time = own.value }
        case .fixedSampleRate:
            let rate = Double(outputs[output].sampleRate)
            guard rate > 0 else { break }
            if let own = feature.time { counts[output] = Int64((own.value * rate).rounded()) }
            time = Double(counts[output]) / rate
            counts[output] += 1
        }
        body(
            Item(
                output: output, time: Double(segmentStart) / Double(sampleRate) + time, isOfStep: isOfStep, feature: feature))
    }
}

extension VampStream.Configuration {
    /// Loads the library, and checks that it has what is named here.
    func check() throws(Problem) {
        let library = try VampLibrary.load(self.library)
        let plugin = try library.entry(self.plugin).description
        if let program { _ = try plugin.program(program) }
        for parameter in parameters { _ = try plugin.parameter(parameter) }
        guard let output else { return }
        var instance = try VampInstance(self.plugin, of: library, sampleRate: 48_000)
        let names = try instance.outputs().map(\.identifier)
        if !names.contains(output) { throw plugin.unknown("output", output, names) }
    }
}

extension VampPluginDescription {
    /// The place of the program of that name.
    fileprivate func program(_ name: String) throws(Problem) -> Int {
        if let index = programs.firstIndex(of: name) { return index }
        throw unknown("program", name, programs)
    }

    /// The place and the value of a parameter.
    fileprivate func parameter(_ given: VampStream.Configuration.Parameter) throws(Problem) -> (Int, Float) {
        guard let index = parameters.firstIndex(where: { $0.identifier == given.name }) else {
            throw unknown("parameter", given.name, parameters.map(\.identifier))
        }
        let parameter = parameters[index]
        if let place = parameter.valueNames.firstIndex(of: given.value) {
            return (index, parameter.minimum + Float(place) * (parameter.step ?? 1))
        }
        let names = parameter.valueNames.isEmpty ? "" : ", or one of \(parameter.valueNames.joined(separator: ", "))"
        let range = "\(parameter.minimum)...\(parameter.maximum)\(parameter.unit.isEmpty ? "" : " \(parameter.unit)")"
        guard let value = Float(given.value), value >= parameter.minimum, value <= parameter.maximum else {
            throw Problem("\(key): \"\(given.value)\" is not a value of \(given.name); use a number within \(range)\(names)")
        }
        return (index, value)
    }

    /// The plugin has no such part.
    fileprivate func unknown(_ part: String, _ name: String, _ names: [String]) -> Problem {
        Problem("\(key) has no \(part) \"\(name)\"; \(name.suggestion(among: names, "there are"))")
    }
}
