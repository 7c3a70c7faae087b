internal import Hemiola
internal import HemiolaOutput
internal import HemiolaSignal
internal import HemiolaWire
internal import Synchronization

/// The sink `beats`: keeps the beats of a stream, or writes each as it comes.
///
/// Its methods run on the caller's thread, the sink's own, and may block there. The lock is never contended: it is what
/// makes the state safe to share, not what orders the calls.
final class BeatWriter: Sink {
    private struct State: ~Copyable {
        var opener: OutputOpener?
        /// The file under way, its path and the input that it is for. Where each input has one, none before the first begins.
        var output: BufferedOutput?
        var path = ""
        var input = ""
        /// The number of the file, where a recording goes on in another one.
        var number = 1
        var streams = WrittenStreams()
        var streamCount = 0
        var track: BeatTrack?
        var isStreamLive = false
        var warn: @Sendable (String) -> Void = { _ in }
    }

    private let template: PathTemplate
    private let format: BeatFormat
    private let state = Mutex(State())

    init(_ template: PathTemplate, _ format: BeatFormat) {
        self.template = template
        self.format = format
    }

    func open(_ context: SinkContext) async throws(SinkError) {
        try attempt { state throws(SinkError) in
            // Lines leave as they come, or a document in one piece; nothing is compressed.
            state.opener = OutputOpener(OutputPlan(compression: .none), context)
            state.warn = context.warn
            if !template.isPerInput { try openFile(&state) }
        }
    }

    func begin(_ stream: StreamHeader) async throws(SinkError) {
        try attempt { state throws(SinkError) in
            let source = stream.inputPath
            // In real time there is one input: another device or format continues its file.
            if template.isPerInput, state.output == nil || source != state.input && !stream.isLive {
                try finishFile(&state)
                state.input = source
                try openFile(&state)
            }
            if state.streamCount > 0, !format.takesSeveral {
                guard stream.isLive else {
                    throw SinkError(
                        "cannot write \(OutputTarget(state.path).name): \(format.rawValue) holds one input per file; "
                            + "write {stem} in the path")
                }
                try continueInNextFile(&state)
            }
            state.streamCount += 1
            state.streams.begin(isLive: stream.isLive)
            state.isStreamLive = stream.isLive
            state.track = BeatTrack(stream)
            if format.isLinewise, !template.isPerInput, let file = stream.file { try write(BeatTrack.comment(file), &state) }
        }
    }

    func write(_ batches: BatchBlock) async throws(SinkError) {
        try attempt { state throws(SinkError) in
            for index in 0..<batches.count {
                let batch = batches[index]
                for event in batch.events.indices { try take(batch.events[event], &state) }
            }
        }
    }

    func write(_ events: [Event]) async throws(SinkError) {
        try attempt { state throws(SinkError) in
            for event in events { try take(event, &state) }
        }
    }

    func end(_ summary: StreamSummary) async throws(SinkError) {
        try attempt { state throws(SinkError) in
            for event in summary.lateEvents { try take(event, &state) }
            state.streams.end(summary.reason)
            guard let track = state.track else { return }
            state.track = nil
            // A document cannot say that it is not whole.
            if summary.reason == .interrupted, !state.isStreamLive { return }
            try write(track.document(format, frames: summary.frames), &state)
        }
    }

    func close() async throws(SinkError) {
        try attempt { state throws(SinkError) in
            defer { state.output = nil }
            try finishFile(&state)
        }
    }

    // MARK: - Under the lock

    /// - Parameter first: The smallest number that the file may have; 1: it has none.
    private func openFile(_ state: inout State, number first: Int = 1) throws(SinkError) {
        guard let opener = state.opener else { return }
        let (input, numbered) = (state.input, template.numbered())
        state.number = first == 1 ? 1 : opener.freeNumber(from: first) { [opener.path(numbered, for: input, number: $0)] }
        state.path = first == 1 ? opener.path(template, for: input) : opener.path(numbered, for: input, number: state.number)
        state.streams = WrittenStreams()
        state.streamCount = 0
        state.output = try opener.open(state.path, isDocument: !format.isLinewise, flushesEachLine: true)
    }

    /// The document of a live stream is whole: the next stream gets a file of its own.
    private func continueInNextFile(_ state: inout State) throws(SinkError) {
        let target = OutputTarget(state.path)
        try finishFile(&state)
        let cause = "\(target.name) ends here: the device or its format changed, and \(format.rawValue) holds one stream; "
        guard !target.isSpecial else { throw SinkError(cause + "give a path to continue in another file") }
        try openFile(&state, number: state.number + 1)
        state.warn(cause + "the recording continues in \(state.path)")
    }

    /// A file for which no stream began is not written.
    private func finishFile(_ state: inout State) throws(SinkError) {
        guard state.streams.hasBegun, state.output != nil, let opener = state.opener else { return }
        try opener.finish(
            &state.output!, at: state.path, state.streams, isWholeRun: !template.isPerInput, isDocument: !format.isLinewise)
        state.output = nil
    }

    private func take(_ event: Event, _ state: inout State) throws(SinkError) {
        guard case .beat(let beat) = event.payload else { return }
        state.track?.beats.append(BeatTrack.Item(time: event.time, beat: beat))
        if format.isLinewise { try write(BeatTrack.line(event.time, beat, format), &state) }
    }

    private func write(_ bytes: [UInt8], _ state: inout State) throws(SinkError) {
        guard !bytes.isEmpty else { return }
        state.output?.buffer.append(bytes: bytes)
        try state.output?.flushIfDue()
    }

    private func attempt(_ body: (inout State) throws(SinkError) -> Void) throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            do throws(SinkError) {
                try body(&state)
            } catch {
                // What was begun is not kept, but for lines of a recording, which are there already.
                state.output = nil
                throw error
            }
        }
    }
}
