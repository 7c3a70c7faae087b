internal import Hemiola
internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// The sink `beats`: writes each beat when it arrives (`text`, `audacity`), or all beats of a stream at its end (documents).
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
    private var state = State()

    init(_ template: PathTemplate, _ format: BeatFormat) {
        self.template = template
        self.format = format
    }

    func open(_ context: SinkContext) throws(Problem) {
        try closingOnError { () throws(Problem) in
            // The formats are read by other programs, which do not decompress.
            state.opener = OutputOpener(OutputPlan(compression: .none), context)
            state.warn = context.warn
            if !template.isPerInput { try openFile() }
        }
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        try closingOnError { () throws(Problem) in
            if state.isRepeated { return try flush() }
            let source = stream.outputPath
            // A live run has one input: the streams of further devices or formats go to the same file.
            if template.isPerInput, state.output == nil || source != state.input && !stream.isLive {
                try finishFile()
                state.input = source
                try openFile()
            }
            if format.describesFiles, stream.isLive || source == "-" {
                throw Problem(
                    "cannot write \(OutputTarget(state.path).name): \(format.rawValue) describes sound files, and \(stream.source.name) "
                        + "is not one; analyse a file, or choose another format")
            }
            if state.streamCount > 0, !format.allowsSeveralInputs {
                guard stream.isLive else {
                    throw Problem(
                        "cannot write \(OutputTarget(state.path).name): \(format.rawValue) holds one input per file; "
                            + "write {stem} in the path")
                }
                try continueInNextFile()
            }
            state.streamCount += 1
            state.streams.begin(isLive: stream.isLive)
            state.isStreamLive = stream.isLive
            state.track = BeatTrack(stream)
            if format.isLinewise, !template.isPerInput, let file = stream.file { append(BeatTrack.comment(file)) }
            try flush()
        }
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        try closingOnError { () throws(Problem) in
            for index in 0..<(state.isRepeated ? 0 : batches.count) {
                let batch = batches[index]
                for event in batch.events.indices { add(batch.events[event]) }
            }
            try flush()
        }
    }

    func write(_ events: [Event]) throws(Problem) {
        try closingOnError { () throws(Problem) in
            for event in state.isRepeated ? [] : events { add(event) }
            try flush()
        }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        try closingOnError { () throws(Problem) in
            if state.isRepeated { return try flush() }
            for event in summary.lateEvents { add(event) }
            state.streams.end(summary.reason)
            // A document cannot state that it is incomplete.
            if let track = state.track, summary.reason != .interrupted || state.isStreamLive {
                append(track.document(format, frames: summary.frames))
                if format == .rekordbox {
                    let duration = (track.header.source.start ?? 0) + track.header.format.seconds(at: summary.frames)
                    state.collection.add(track.header, duration: duration, beats: track.positions(inLibraryOf: format))
                }
            }
            state.track = nil
            try flush()
        }
    }

    func close() throws(Problem) {
        try closingOnError { () throws(Problem) in
            defer { state.output = nil }
            try finishFile()
        }
    }

    /// - Parameter first: The smallest number of the file; 1: the path without a number.
    private func openFile(number first: Int = 1) throws(Problem) {
        guard let opener = state.opener else { return }
        let (input, numbered) = (state.input, template.numbered())
        state.number = first == 1 ? 1 : opener.freeNumber(from: first) { [opener.path(numbered, for: input, number: $0)] }
        state.path = first == 1 ? opener.path(template, for: input) : opener.path(numbered, for: input, number: state.number)
        state.streams = WrittenStreams()
        state.streamCount = 0
        state.collection = RekordboxCollection()
        state.output = try opener.open(state.path, isDocument: !format.isLinewise, flushesEachLine: true, retriesWrites: format.isLinewise)
        if format == .mixxx { append(Array(MixxxScript.head.utf8)) }
    }

    /// Completes the document of a live stream and opens another file for the next stream.
    private func continueInNextFile() throws(Problem) {
        let target = OutputTarget(state.path)
        try finishFile()
        let cause = "\(target.name) ends here: the device or its format changed, and \(format.rawValue) holds one stream; "
        guard !target.isSpecial else { throw Problem(cause + "give a path to continue in another file") }
        try openFile(number: state.number + 1)
        state.warn(cause + "the recording continues in \(state.path)")
    }

    /// Finishes the file. A file for which no stream began is removed.
    private func finishFile() throws(Problem) {
        guard state.streams.hasBegun, state.output != nil, let opener = state.opener else { return }
        if format == .rekordbox { append(state.collection.document) }
        if format == .mixxx { append(Array(MixxxScript.tail.utf8)) }
        try opener.finish(
            &state.output!, at: state.path, state.streams, isWholeRun: !template.isPerInput, isDocument: !format.isLinewise)
        state.output = nil
    }

    private func add(_ event: Event) {
        guard let beat = Beat(event) else { return }
        state.track?.beats.append(BeatTrack.Item(time: event.time, beat: beat))
        if format.isLinewise { append(BeatTrack.line(event.time, beat, format)) }
    }

    private func append(_ bytes: [UInt8]) {
        state.output?.buffer.append(bytes: bytes)
    }

    /// Writes the lines of a call.
    private func flush() throws(Problem) {
        do throws(Problem) {
            try state.output?.flushIfDue()
            state.isRepeated = false
        } catch {
            state.isRepeated = error.remedy == .retry
            throw error
        }
    }

    /// Runs `body`. After an error, unless the call can be repeated, the file is closed: a partial document is
    /// removed, written lines of a live file are kept.
    private func closingOnError(_ body: () throws(Problem) -> Void) throws(Problem) {
        do throws(Problem) {
            try body()
        } catch {
            if error.remedy != .retry { state.output = nil }
            throw error
        }
    }
}
