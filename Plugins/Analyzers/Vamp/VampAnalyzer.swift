internal import Hemiola

/// Runs a Vamp plugin in this process. Outputs with a fixed number of values per step are features; features of all other outputs are
/// `event` records.
///
/// The plugin allocates its results, as the Vamp interface prescribes, and so does this analyzer: it is exempt from the rule that the hot
/// path does not allocate.
///
/// - Complexity: that of the plugin; for plugins that read spectra, also a transform in double precision per step and channel.
final class VampAnalyzer: Analyzer {
    /// An output of the plugin.
    private struct Output {
        var name = ""
        /// The place of its values; nil: its features are events.
        var handle: FeatureHandle?
        var binCount = 0
        /// The first of its values in `values`, and the steps of this batch so far.
        var offset = 0
        var steps = 0
    }

    /// Values per batch, which take a quarter of their duration to write as JSON.
    private static let largestWidth = 1 << 17

    private let configuration: VampStream.Configuration
    private var stream: VampStream?
    private var outputs: [Output] = []
    /// The values of the batch.
    private var values: [Float] = []
    /// The largest number of steps that end in a batch.
    private var stepsPerBatch = 1
    /// Whether the next hop begins a new segment.
    private var isInterrupted = false
    private var nonFinite = 0
    private var misfits = 0

    init(_ configuration: VampStream.Configuration) {
        self.configuration = configuration
    }

    func load() throws(Problem) {
        try configuration.check()
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        self.stream = nil
        let made: VampStream
        made = try VampStream(configuration, stream.format)
        stepsPerBatch = (stream.batching.batchFrames + made.step - 1) / made.step
        var declared = AnalyzerOutputs()
        declared.latencyFrames = Int64(made.block / 2)
        outputs = made.outputs.map { _ in Output() }
        var names: Set<String> = []
        for (index, output) in made.outputs.enumerated() where made.isUsed[index] {
            var entry = Output(name: output.featureName(unlike: &names))
            if output.isDense, let count = output.binCount {
                guard count <= Self.largestWidth, declared.width + count * stepsPerBatch <= Self.largestWidth else {
                    throw Problem(
                        "\(made.plugin.key) has \(count) values of \(output.identifier) per step; use a larger step=, or another output")
                }
                entry.binCount = count
                entry.offset = declared.width
                entry.handle = declared.add(output.feature(named: entry.name, stepsPerBatch: stepsPerBatch, step: made.step))
            }
            declared.add(output.event(named: entry.name))
            outputs[index] = entry
        }
        values = Array(repeating: .nan, count: declared.width)
        self.stream = made
        clear()
        return declared
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        guard let stream else { return }
        if isInterrupted { endSegment(&events) }
        if hop.indexInBatch == 0 { beginBatch() }
        let count = hop.frameCount
        if stream.sources == nil {
            stream.process(hop.mono, stride: 1, count: count, from: hop.frame) { add($0, isInBatch: true, &events) }
        } else {
            stream.process(hop.samples, stride: hop.format.channelCount, count: count, from: hop.frame) {
                add($0, isInBatch: true, &events)
            }
        }
        if count < hop.mono.count {
            // An incomplete hop is the last one before a gap or the end.
            stream.padBlocks { add($0, isInBatch: true, &events) }
            isInterrupted = true
        }
        for output in outputs {
            guard let handle = output.handle else { continue }
            for index in 0..<handle.count { row[handle, index] = values[output.offset + index] }
        }
    }

    /// Adds a feature of the plugin: to the batch where it has a place, else as an event.
    private func add(_ item: VampStream.Item, isInBatch: Bool, _ events: inout EventList) {
        let feature = item.feature
        for value in feature.values where !value.isFinite { nonFinite += 1 }
        let output = outputs[item.output]
        if output.handle != nil, feature.values.count != output.binCount { misfits += 1 }
        guard output.handle != nil, isInBatch, item.isOfStep, output.steps < stepsPerBatch else {
            let values = feature.values.map { $0.isFinite ? Double($0) : .nan }
            events.append(
                AnalyzerEvent(output: output.name, duration: feature.duration?.value, values: values, label: feature.label), at: item.time)
            return
        }
        let offset = output.offset + output.steps * output.binCount
        for index in 0..<min(output.binCount, feature.values.count) where feature.values[index].isFinite {
            values[offset + index] = feature.values[index]
        }
        outputs[item.output].steps += 1
    }

    private func beginBatch() {
        for index in values.indices { values[index] = .nan }
        for index in outputs.indices { outputs[index].steps = 0 }
    }

    private func endSegment(_ events: inout EventList) {
        stream?.endSegment { add($0, isInBatch: false, &events) }
        isInterrupted = false
    }

    func skip(_ gap: Gap) {
        // The features that remain are emitted with the next hop.
        isInterrupted = true
    }

    func finish(into events: inout EventList) {
        endSegment(&events)
    }

    private func clear() {
        (isInterrupted, nonFinite, misfits) = (false, 0, 0)
        beginBatch()
    }

    var warning: String? {
        guard let key = stream?.plugin.key else { return nil }
        if misfits > 0 {
            let features = "feature\(misfits == 1 ? "" : "s")"
            return "\(key) has returned \(misfits) \(features) with another number of values than it declares"
        }
        if nonFinite == 0 { return nil }
        let (values, verb) = nonFinite == 1 ? ("value", "is") : ("values", "are")
        return "\(key) has returned \(nonFinite) \(values) that \(verb) NaN or infinite: written as null"
    }
}

extension VampOutput {
    /// Its name as a feature or event output: the identifier in lower case, `_` for other characters, unlike the names before.
    fileprivate func featureName(unlike names: inout Set<String>) -> String {
        var base = String(
            identifier.unicodeScalars.map { scalar in
                scalar.isASCII && (scalar.properties.isAlphabetic || (0x30...0x39).contains(scalar.value)) ? Character(scalar) : "_"
            }
        ).lowercased()
        if base.first.map({ !$0.isLetter }) ?? true { base = "output_" + base }
        var name = base
        var number = 2
        while !names.insert(name).inserted {
            name = "\(base)_\(number)"
            number += 1
        }
        return name
    }

    /// The feature of a dense output.
    fileprivate func feature(named name: String, stepsPerBatch: Int, step: Int) -> Feature {
        let range = minimum.flatMap { low in maximum.map { Double(low)...Double($0) } }
        let count = binCount ?? 0
        var text = sentence
        if stepsPerBatch > 1 { text = "\(text.dropLast()); \(count) for each of the at most \(stepsPerBatch) steps that end in the batch." }
        let unit = Unit(rawValue: self.unit).withAllDigits
        if count == 1, stepsPerBatch == 1 { return Feature(name, unit, in: range, text) }
        return Feature(name, unit, count: count * stepsPerBatch, in: range, text)
    }

    /// The event output of any output: a dense one has events at the end of the stream.
    fileprivate func event(named name: String) -> EventOutput {
        EventOutput(name, Unit(rawValue: unit).withAllDigits, isDense ? "\(sentence.dropLast()): steps after the last batch." : sentence)
    }

    /// The description, or the name, as a sentence.
    private var sentence: String {
        let text = (summary.isEmpty ? (name.isEmpty ? identifier : name) : summary).onOneLine
        return text.hasSuffix(".") ? text : text + "."
    }
}
