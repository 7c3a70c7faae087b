internal import Glibc
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// The child's side of an ``IsolatedAnalyzer``.
package enum IsolatedAnalyzerService {
    /// Reads messages from standard input and answers them on standard output until the end of the input. Ends the process.
    ///
    /// - Parameter registry: The plugins of the program.
    package static func run(_ registry: PluginRegistry) -> Never {
        // A crash is reported by the parent: no report of its own, which the Swift runtime prints.
        for number in [SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP] { _ = signal(number, SIG_DFL) }
        // An exit by the plugin is a failure, whatever its code; the parent reports it.
        atexit { _exit(1) }
        // The plugin may print: on standard error, which the parent reports.
        StandardOutput.reserve()
        let connection = Connection(input: STDIN_FILENO, output: StandardOutput.descriptor)
        do throws(Problem) {
            try serve(connection, registry)
        } catch {
            var message = MessageWriter(MessageKind.refusal)
            message.add(error.message)
            connection.send(message.finish())
        }
        _exit(0)
    }

    private static func serve(_ connection: Connection, _ registry: PluginRegistry) throws(Problem) {
        guard var start = connection.receive(), start.kind == MessageKind.start else { return }
        let id = try start.text()
        var parameters: [SettingValues.Parameter] = []
        for _ in 0..<(try start.count(ofBytes: 5)) {
            parameters.append(SettingValues.Parameter(key: try start.text(), value: try start.value()))
        }
        let format = StreamFormat(sampleRate: Int(try start.integer(UInt32.self)), channelCount: Int(try start.integer(UInt32.self)))
        guard let batching = Batching(batchFrames: Int(try start.integer(UInt32.self))),
            let plugin = registry.analyzers.first(where: { $0.about.id == id })
        else { throw Problem("this program has no analyzer \(id)") }
        let stream = AnalysisFormat(format, batching: batching, seed: try start.integer())
        let analyzer = try plugin.make(SettingValues(parameters))
        let onlyChecks = try start.flag()
        var outputs = AnalyzerOutputs()
        if !onlyChecks {
            outputs = try analyzer.prepare(stream)
            precondition(outputs.spectra.isEmpty, "an isolated analyzer requests no spectra")
        }
        var message = MessageWriter(MessageKind.outputs)
        message.add(outputs)
        connection.send(message.finish())
        if !onlyChecks { try analyse(connection, analyzer, outputs, stream) }
    }

    private static func analyse(
        _ connection: Connection, _ analyzer: any Analyzer, _ outputs: AnalyzerOutputs, _ stream: AnalysisFormat
    ) throws(Problem) {
        var events = EventList()
        var row = [Float](repeating: .nan, count: outputs.width)
        var mono = [Float](repeating: 0, count: stream.hopFrames)
        var samples = [Float](repeating: 0, count: stream.hopFrames * stream.channelCount)
        var next: Int64?
        while var message = connection.receive() {
            guard message.kind == MessageKind.hop else { throw Problem("a message was not expected") }
            // Three bytes for the alignment of the samples.
            for _ in 0..<3 { _ = try message.integer(UInt8.self) }
            let (frame, frames, index) = (
                try message.integer(Int64.self), Int(try message.integer(UInt32.self)), try message.integer(UInt32.self)
            )
            guard frames <= stream.hopFrames else { throw Problem("a hop is too long") }
            try message.samples(into: &mono)
            if stream.channelCount > 1 { try message.samples(into: &samples) } else { samples = mono }
            // Audio that was lost, or that this process has not got.
            if let next, frame > next { analyzer.skip(Gap(frames: frame - next, reason: .frozen)) }
            next = frame + Int64(frames)
            for place in row.indices { row[place] = .nan }
            analyse(analyzer, stream, frame, frames, Int(index), mono, samples, into: &row, &events)
            var answer = MessageWriter(MessageKind.answer)
            answer.add(row)
            answer.add(events.takeAll())
            connection.send(answer.finish())
        }
        analyzer.finish(into: &events)
        var end = MessageWriter(MessageKind.end)
        end.add(events.takeAll())
        end.add(analyzer.warning ?? "")
        connection.send(end.finish())
    }

    private static func analyse(
        _ analyzer: any Analyzer, _ stream: AnalysisFormat, _ frame: Int64, _ frames: Int, _ index: Int, _ mono: [Float],
        _ samples: [Float], into row: inout [Float], _ events: inout EventList
    ) {
        let slots: [SpectrumSlot] = []
        var values = FeatureRow(row.mutableSpan)
        analyzer.process(
            Hop(
                frame: frame, frameCount: frames, indexInBatch: index, format: stream.format, mono: mono.span,
                samples: samples.span.extracting(0..<frames * stream.channelCount), slots: slots.span), into: &values, events: &events)
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

/// The pipes to the parent.
private struct Connection {
    let input: Int32
    let output: Int32

    /// The next message; nil at the end of the input.
    func receive() -> MessageReader? {
        guard let head = read(4) else { return nil }
        let count = head.enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }
        guard (1...MessageReader.longestMessage).contains(count) else { return nil }
        return read(count).map(MessageReader.init)
    }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let taken = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(input, buffer.baseAddress! + filled, count - filled)
            }
            if taken < 0, errno == EINTR { continue }
            guard taken > 0 else { return nil }
            filled += taken
        }
        return bytes
    }

    /// Sends a message. A parent that does not read any more ends this process.
    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(output, buffer.baseAddress! + sent, bytes.count - sent)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { _exit(1) }
            sent += count
        }
    }
}
