internal import Hemiola
internal import HemiolaOutput
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaWire
internal import Synchronization

/// The sink `beats`: keeps the beats of a stream, or writes each as it comes.
///
/// Its methods run on the caller's thread, the sink's own, and may block there. The lock is never contended: it is what
/// makes the state safe to share, not what orders the calls.
final class BeatWriter: Sink {
    private static let stem = "{stem}"

    private struct State: ~Copyable {
        var output: BufferedOutput?
        var track: BeatTrack?
        var streamCount = 0
    }

    private let path: String
    private let format: BeatFormat
    private let state = Mutex(State())

    init(_ path: String, _ format: BeatFormat) {
        self.path = path
        self.format = format
    }

    /// Whether each input has a file of its own.
    private var isPerInput: Bool { path.contains(Self.stem) }

    func open(_ context: SinkContext) async throws(SinkError) {
        try attempt { state throws(SinkError) in
            if !isPerInput { state.output = try BufferedOutput(OutputTarget(path), flushesAtOnce: true) }
        }
    }

    func begin(_ stream: StreamHeader) async throws(SinkError) {
        try attempt { state throws(SinkError) in
            state.streamCount += 1
            if state.streamCount > 1, !isPerInput, !format.takesSeveral {
                throw SinkError(
                    "cannot write \(OutputTarget(path).name): \(format.rawValue) holds one input per file; write {stem} in the path")
            }
            state.track = BeatTrack(stream)
            if isPerInput { state.output = try BufferedOutput(OutputTarget(Self.path(path, for: stream)), flushesAtOnce: true) }
            if format.isLinewise, !isPerInput, let file = stream.file { try write(BeatTrack.comment(file), &state) }
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
            guard let track = state.track else { return }
            state.track = nil
            try write(track.document(format, frames: summary.frames), &state)
            if isPerInput {
                try state.output?.finish()
                state.output = nil
            }
        }
    }

    func close() async throws(SinkError) {
        try attempt { state throws(SinkError) in
            try state.output?.finish()
            state.output = nil
        }
    }

    // MARK: - Under the lock

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
                // What was begun is not kept.
                state.output = nil
                throw error
            }
        }
    }

    /// `out/{stem}.txt` for `music/song.flac` is `out/song.txt`.
    static func path(_ path: String, for stream: StreamHeader) -> String {
        var name = stream.source.name.split(separator: "/").last.map(String.init) ?? "input"
        if let dot = name.lastIndex(of: "."), dot > name.startIndex { name = String(name[..<dot]) }
        return path.replacing(stem, with: name)
    }
}
