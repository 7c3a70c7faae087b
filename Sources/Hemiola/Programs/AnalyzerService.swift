internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// An analyzer as a program in the protocol of the analyzer `exec`.
///
/// It gets every hop, and its values and events are those of the analyzer in the process of the pipeline. The analyzer requests no spectra
/// and emits only records of types `event`, `beat` and `onset`.
enum AnalyzerService {
    /// The line in place of that of a stream, for a check of the settings.
    static let check = Array("{\"type\":\"check\"}\n".utf8)

    /// - Parameter id: The id of the plugin for errors; nil: the other process knows the plugin.
    fileprivate static func runService(naming id: String? = nil, _ serve: () throws(Problem) -> Void) -> Never {
        CurrentProcess.beginService()
        do {
            try serve()
        } catch {
            send(refusal(error, naming: id))
        }
        CurrentProcess.exitAtOnce(0)
    }

    /// The line in place of a declaration: all that is wrong.
    ///
    /// - Parameter id: The id of the plugin, which the message names; nil: the other process knows the plugin.
    static func refusal(_ problem: Problem, naming id: String?) -> JSONValue {
        guard let id else { return .object([.init("error", .text(problem.all.map(\.description).joined(separator: "; ")))]) }
        let texts = problem.all.map { problem in
            if let setting = problem.place?.key { return "\(id).\(setting): \(problem.message)" }
            return problem.message.contains(id) ? problem.message : "\(id): \(problem.message)"
        }
        return .object([.init("error", .text(texts.joined(separator: "; ")))])
    }

    fileprivate static func serve(_ plugin: AnalyzerPlugin, _ spec: PluginSpec) throws(Problem) {
        var problems: [Problem] = []
        guard let values = plugin.about.values(from: spec, problems: &problems) else { throw Problem(problems) }
        guard let start = try startLine() else { return }
        let analyzer = try plugin.make(values)
        guard start["type"]?.string == "start" else { return send(.object([])) }
        let format = StreamFormat(sampleRate: try start.integer("sample_rate"), channelCount: try start.integer("channels"))
        guard let batching = Batching(batchFrames: try start.integer("batch_frames")) else { throw Problem("the batches are too long") }
        let stream = AnalysisFormat(format, batching: batching)
        let outputs = try analyzer.prepare(stream)
        guard outputs.spectra.isEmpty, plugin.about.records.allSatisfy({ [.analyzerEvent, .beat, .onset].contains($0) }) else {
            throw Problem("\(plugin.about.id) requests spectra or has records of its own: add it to a program that contains Hemiola")
        }
        send(declaration(of: outputs))
        analyse(analyzer, outputs, stream)
    }

    /// The first line of the input; nil: there is none. Nothing follows it before this process has answered.
    private static func startLine() throws(Problem) -> JSONValue? {
        var line: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            guard withUnsafeMutableBytes(of: &byte, { read(into: $0) }) else { return nil }
            if byte == UInt8(ascii: "\n") { return try JSONValue(line) }
            line.append(byte)
        }
    }

    private static func declaration(of outputs: AnalyzerOutputs) -> JSONValue {
        func members(_ name: String, _ unit: Unit, _ summary: String) -> [JSONValue.Member] {
            [.init("name", .text(name)), .init("unit", .text(unit.rawValue)), .init("description", .text(summary))]
                + (unit.hasAllDigits ? [.init("digits", .text("all"))] : [])
        }
        let features = outputs.features.map { feature in
            JSONValue.object(
                members(feature.name, feature.unit, feature.summary) + (feature.isArray ? [.init("count", .integer(feature.count))] : [])
                    + [.init("aggregation", .text("\(feature.aggregation)"))]
                    + [("minimum", feature.minimum), ("maximum", feature.maximum)].map { .init($0, $1.map { .number($0) } ?? .null) })
        }
        let events = outputs.events.map { JSONValue.object(members($0.name, $0.unit, $0.summary)) }
        return .object([
            .init("outputs", .list(features)), .init("events", .list(events)), .init("hops", .boolean(true)),
            .init("latency_frames", .integer(Int(outputs.latencyFrames))), .init("causal", .boolean(outputs.isCausal)),
        ])
    }

    private static func analyse(_ analyzer: any Analyzer, _ outputs: AnalyzerOutputs, _ stream: AnalysisFormat) {
        var events = EventList()
        var row = [Float](repeating: .nan, count: outputs.width)
        // The header of the block, and its samples: the mix, and where there are several channels all of them.
        let first = BlockHeader.size / MemoryLayout<Float>.size
        let hop = stream.hopFrames
        var block = [Float](repeating: 0, count: BlockHeader.blockSize(hop, stream.channelCount) / MemoryLayout<Float>.size)
        var answer = JSONBuffer(capacity: 4096)
        var next: Int64?
        while block.withUnsafeMutableBytes({ read(into: $0) }) {
            let header = block.withUnsafeBytes { BlockHeader($0) }
            let frames = min(max(0, Int(header.frameCount)), hop)
            // Audio that was lost, or that this process has not got.
            if let next, header.frame > next { analyzer.skip(Gap(frames: header.frame - next, reason: .frozen)) }
            next = header.frame + Int64(frames)
            for place in row.indices { row[place] = .nan }
            analyse(analyzer, stream, header, frames, block.span.extracting(first...), into: &row, &events)
            answer.append(events.takeAll())
            answer.append(row, of: outputs)
            send(&answer)
        }
        analyzer.finish(into: &events)
        answer.append(events.takeAll())
        send(&answer)
        if let warning = analyzer.warning { send(.object([.init("warning", .text(warning))])) }
    }

    private static func analyse(
        _ analyzer: any Analyzer, _ stream: AnalysisFormat, _ header: BlockHeader, _ frames: Int, _ samples: Span<Float>,
        into row: inout [Float], _ events: inout EventList
    ) {
        let slots: [SpectrumSlot] = []
        var values = FeatureRow(row.mutableSpan)
        let hop = stream.hopFrames
        let all = stream.channelCount == 1 ? samples : samples.extracting(hop...)
        analyzer.process(
            Hop(
                frame: header.frame, frameCount: frames, indexInBatch: Int(header.indexInBatch), format: stream.format,
                mono: samples.extracting(..<hop), samples: all.extracting(..<(frames * stream.channelCount)), slots: slots.span),
            into: &values, events: &events)
    }

    // MARK: - The pipes to the parent

    /// Fills the bytes.
    ///
    /// - Returns: false at the end of the input.
    private static func read(into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        var filled = 0
        while filled < bytes.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
            guard let count = try? FileDescriptor.standardInput.read(into: rest), count > 0 else { return false }
            filled += count
        }
        return true
    }

    private static func send(_ value: JSONValue) {
        var line = JSONBuffer(capacity: 4096)
        line.append(bytes: Array(value.line.utf8))
        send(&line)
    }

    /// Sends lines, and removes them. A parent that does not read any more ends this process.
    private static func send(_ lines: inout JSONBuffer) {
        lines.withUnsafeBytes { bytes in
            guard (try? FileDescriptor.standardOutput.writeAll(bytes)) != nil else { CurrentProcess.exitAtOnce(1) }
        }
        lines.removeAll()
    }
}

extension AnalyzerPlugin {
    /// Runs the analyzer as the program of the analyzer `exec`, until its input ends. Ends the process.
    ///
    ///     AnalyzerPlugin.loudness.serve()     // main.swift of a package that needs the product `Hemiola` only
    ///
    /// An installed `hemiola` starts it: `hemiola analyze song.flac --analyzer exec:.build/release/meter`. The arguments are settings:
    /// `'exec:meter gate=0.1'`. An analyzer that requests spectra, declares records of its own or handles controls needs a program that
    /// contains Hemiola.
    public func serve(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) -> Never {
        AnalyzerService.runService(naming: about.id) { () throws(Problem) in
            let settings = arguments.isEmpty ? "" : ":\(arguments.joined(separator: ","))"
            try AnalyzerService.serve(self, try PluginSpec(parsing: about.id + settings))
        }
    }

    /// Runs the analyzer as the program of another process of Hemiola, until its input ends. Ends the process.
    ///
    /// - Parameter text: The settings, as a JSON object.
    package func serve(settings text: String) -> Never {
        AnalyzerService.runService { () throws(Problem) in
            var spec = PluginSpec(about.id)
            for member in try JSONValue(Array(text.utf8)).members ?? [] { spec.settings[member.key] = ParameterValue(member.value) }
            try AnalyzerService.serve(self, spec)
        }
    }
}

extension EventList {
    /// The events, in order of time; the list is empty afterwards.
    fileprivate mutating func takeAll() -> [Event] {
        var events: [Event] = []
        drain(into: &events)
        return events
    }
}

extension JSONBuffer {
    /// Appends a line for each event.
    mutating func append(_ events: [Event]) {
        for event in events {
            let value = AnalyzerEvent(event)
            var members: [JSONValue.Member] = [
                .init("event", .text(value?.output ?? event.type.name)), .init("t", .number(event.time)),
            ]
            if let value {
                members += [
                    .init("values", .list(value.values.map { .number($0) })), .init("label", .text(value.label)),
                    .init("duration_s", value.duration.map { .number($0) } ?? .null),
                ]
            } else {
                // A beat or an onset.
                members += event.type.fields.filter { $0.source == .stored }.map { .init($0.name, JSONValue(event[$0.name])) }
            }
            append(bytes: Array(JSONValue.object(members).line.utf8))
        }
    }

    /// Appends the line of an answer, with all digits.
    fileprivate mutating func append(_ row: [Float], of outputs: AnalyzerOutputs) {
        append("{")
        var place = 0
        for feature in outputs.features {
            if place > 0 { append(",") }
            append(string: feature.name)
            append(feature.isArray ? ":[" : ":")
            append(row.span.extracting(place..<place + feature.count), .all)
            if feature.isArray { append("]") }
            place += feature.count
        }
        append("}\n")
    }
}
