internal import Hemiola
internal import HemiolaOutput
internal import HemiolaSignal
internal import HemiolaWire
internal import Synchronization

/// The sink `beats`: writes each beat when it arrives (`text`, `audacity`), or all beats of a stream at its end (documents).
///
/// All methods run on the sink's thread and may block. The engine never makes two calls at the same time. The mutex is therefore never
/// contended; it makes the class `Sendable`.
final class BeatWriter: Sink {
    private struct State: ~Copyable {
        var opener: OutputOpener?
        /// The open file, its path and its input; nil if each input has its own file and none has begun.
        var output: BufferedOutput?
        var path = ""
        var input = ""
        /// The number of the file, if a recording continues in further files.
        var number = 1
        var streams = WrittenStreams()
        var streamCount = 0
        var track: BeatTrack?
        /// The tracks of a Rekordbox file, which states their number before the first.
        var collection = RekordboxCollection()
        var isStreamLive = false
        /// Whether the last call failed with `Remedy.retry` after it had put all of its lines into the buffer.
        var isRepeated = false
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
        try withState { state throws(SinkError) in
            // The formats are read by other programs, which do not decompress.
            state.opener = OutputOpener(OutputPlan(compression: .none), context)
            state.warn = context.warn
            if !template.isPerInput { try openFile(&state) }
        }
    }

    func begin(_ stream: StreamHeader) async throws(SinkError) {
        try withState { state throws(SinkError) in
            if state.isRepeated { return try flush(&state) }
            let source = stream.outputPath
            // A live run has one input: the streams of further devices or formats go to the same file.
            if template.isPerInput, state.output == nil || source != state.input && !stream.isLive {
                try finishFile(&state)
                state.input = source
                try openFile(&state)
            }
            if format.describesFiles, stream.isLive || source == "-" {
                throw SinkError(
                    "cannot write \(OutputTarget(state.path).name): \(format.rawValue) describes sound files, and \(stream.source.name) "
                        + "is not one; analyse a file, or choose another format")
            }
            if state.streamCount > 0, !format.allowsSeveralInputs {
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
            if format.isLinewise, !template.isPerInput, let file = stream.file { append(BeatTrack.comment(file), &state) }
            try flush(&state)
        }
    }

    func write(_ batches: BatchBlock) async throws(SinkError) {
        try withState { state throws(SinkError) in
            for index in 0..<(state.isRepeated ? 0 : batches.count) {
                let batch = batches[index]
                for event in batch.events.indices { add(batch.events[event], &state) }
            }
            try flush(&state)
        }
    }

    func write(_ events: [Event]) async throws(SinkError) {
        try withState { state throws(SinkError) in
            for event in state.isRepeated ? [] : events { add(event, &state) }
            try flush(&state)
        }
    }

    func end(_ summary: StreamSummary) async throws(SinkError) {
        try withState { state throws(SinkError) in
            if state.isRepeated { return try flush(&state) }
            for event in summary.lateEvents { add(event, &state) }
            state.streams.end(summary.reason)
            // A document cannot state that it is incomplete.
            if let track = state.track, summary.reason != .interrupted || state.isStreamLive {
                append(track.document(format, frames: summary.frames), &state)
                if format == .rekordbox {
                    let duration = (track.header.source.start ?? 0) + track.header.format.seconds(at: summary.frames)
                    state.collection.add(track.header, duration: duration, beats: track.positions(inLibraryOf: format))
                }
            }
            state.track = nil
            try flush(&state)
        }
    }

    func close() async throws(SinkError) {
        try withState { state throws(SinkError) in
            defer { state.output = nil }
            try finishFile(&state)
        }
    }

    // MARK: - Called with the mutex locked

    /// - Parameter first: The smallest number of the file; 1: the path without a number.
    private func openFile(_ state: inout State, number first: Int = 1) throws(SinkError) {
        guard let opener = state.opener else { return }
        let (input, numbered) = (state.input, template.numbered())
        state.number = first == 1 ? 1 : opener.freeNumber(from: first) { [opener.path(numbered, for: input, number: $0)] }
        state.path = first == 1 ? opener.path(template, for: input) : opener.path(numbered, for: input, number: state.number)
        state.streams = WrittenStreams()
        state.streamCount = 0
        state.collection = RekordboxCollection()
        state.output = try opener.open(state.path, isDocument: !format.isLinewise, flushesEachLine: true, retriesWrites: format.isLinewise)
        if format == .mixxx { append(Array(MixxxScript.head.utf8), &state) }
    }

    /// Completes the document of a live stream and opens another file for the next stream.
    private func continueInNextFile(_ state: inout State) throws(SinkError) {
        let target = OutputTarget(state.path)
        try finishFile(&state)
        let cause = "\(target.name) ends here: the device or its format changed, and \(format.rawValue) holds one stream; "
        guard !target.isSpecial else { throw SinkError(cause + "give a path to continue in another file") }
        try openFile(&state, number: state.number + 1)
        state.warn(cause + "the recording continues in \(state.path)")
    }

    /// Finishes the file. A file for which no stream began is removed.
    private func finishFile(_ state: inout State) throws(SinkError) {
        guard state.streams.hasBegun, state.output != nil, let opener = state.opener else { return }
        if format == .rekordbox { append(state.collection.document, &state) }
        if format == .mixxx { append(Array(MixxxScript.tail.utf8), &state) }
        try opener.finish(
            &state.output!, at: state.path, state.streams, isWholeRun: !template.isPerInput, isDocument: !format.isLinewise)
        state.output = nil
    }

    private func add(_ event: Event, _ state: inout State) {
        guard let beat = Beat(event) else { return }
        state.track?.beats.append(BeatTrack.Item(time: event.time, beat: beat))
        if format.isLinewise { append(BeatTrack.line(event.time, beat, format), &state) }
    }

    private func append(_ bytes: [UInt8], _ state: inout State) {
        state.output?.buffer.append(bytes: bytes)
    }

    /// Writes the lines of a call.
    private func flush(_ state: inout State) throws(SinkError) {
        do throws(SinkError) {
            try state.output?.flushIfDue()
            state.isRepeated = false
        } catch {
            state.isRepeated = error.remedy == .retry
            throw error
        }
    }

    /// Runs `body` with the mutex locked. After an error, unless the call can be repeated, the file is closed: a partial document is
    /// removed, written lines of a live file are kept.
    private func withState(_ body: (inout State) throws(SinkError) -> Void) throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            do throws(SinkError) {
                try body(&state)
            } catch {
                if error.remedy != .retry { state.output = nil }
                throw error
            }
        }
    }
}
