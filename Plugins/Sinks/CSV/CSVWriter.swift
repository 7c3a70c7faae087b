internal import Hemiola
internal import HemiolaOutput
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaWire
internal import Synchronization

/// The sink `csv`: batches into one table, events into another. Neither file takes its name before both are written.
///
/// Its methods run on the caller's thread, the sink's own, and may block there. The lock is never contended: it is what
/// makes the state safe to share, not what orders the calls.
final class CSVWriter: Sink {
    fileprivate struct State: ~Copyable {
        let places: TablePlaces
        let appends: Bool
        let flush: FlushPolicy
        let compression: CompressionChoice
        let level: Int
        var selection = Selection.all
        var rows: TableFile?
        var events: TableFile?
        var hasBegun = false
        // Of the stream under way.
        var header: StreamHeader?
        var batchTable: BatchTable?
        var eventTable: EventTable?
    }

    private let state: Mutex<State>

    init(_ places: TablePlaces, appends: Bool, flush: FlushPolicy, compression: CompressionChoice, level: Int) {
        state = Mutex(State(places: places, appends: appends, flush: flush, compression: compression, level: level))
    }

    func open(_ context: SinkContext) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            do throws(SinkError) { try state.open(context) } catch { throw state.giveUp(error) }
        }
    }

    func begin(_ stream: StreamHeader) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            do throws(SinkError) { try state.begin(stream) } catch { throw state.giveUp(error) }
        }
    }

    func write(_ batches: BatchBlock) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            do throws(SinkError) { try state.write(batches) } catch { throw state.giveUp(error) }
        }
    }

    func write(_ events: [Event]) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            do throws(SinkError) {
                for event in events { try state.write(event, batchEnd: event.time) }
            } catch {
                throw state.giveUp(error)
            }
        }
    }

    func end(_ summary: StreamSummary) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            do throws(SinkError) { try state.end(summary) } catch { throw state.giveUp(error) }
        }
    }

    func close() async throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            do throws(SinkError) { try state.close() } catch { throw state.giveUp(error) }
        }
    }
}

// MARK: - Under the lock

extension CSVWriter.State {
    mutating func open(_ context: SinkContext) throws(SinkError) {
        selection = context.selection
        hasBegun = false
        let wanted = TablesWanted(rows: selection.contains("batch"), events: EventTable.isWanted(by: selection))
        let flushesAtOnce = flush.isAtOnce(isLive: context.isLive)
        rows = try table(places.rows(wanted), flushesAtOnce)
        events = try table(places.events(wanted), flushesAtOnce)
    }

    private func table(_ target: OutputTarget?, _ flushesAtOnce: Bool) throws(SinkError) -> TableFile? {
        guard let target else { return nil }
        return try TableFile(
            target, appends: appends, compression: compression.compression(of: target.path, level: level),
            flushesAtOnce: flushesAtOnce)
    }

    mutating func begin(_ stream: StreamHeader) throws(SinkError) {
        hasBegun = true
        header = stream
        let batches = BatchTable(stream, selection: selection)
        try rows?.begin(batches.names)
        batchTable = batches.arranged(as: rows?.columns ?? [])
        let happenings = EventTable(stream, selection: selection)
        try events?.begin(happenings.names)
        eventTable = happenings
    }

    mutating func write(_ batches: BatchBlock) throws(SinkError) {
        guard let header else { return }
        for index in 0..<batches.count {
            let batch = batches[index]
            if let rows, let batchTable {
                try rows.append { buffer in batchTable.encode(batches[index], into: &buffer) }
            }
            guard events != nil, !batch.events.isEmpty else { continue }
            let end = header.format.seconds(at: batch.endFrame)
            for place in batch.events.indices { try write(batch.events[place], batchEnd: end) }
        }
    }

    mutating func end(_ summary: StreamSummary) throws(SinkError) {
        guard let header else { return }
        let end = header.format.seconds(at: summary.frames)
        for event in summary.lateEvents { try write(event, batchEnd: end) }
        self.header = nil
    }

    fileprivate func write(_ event: Event, batchEnd: Double) throws(SinkError) {
        guard let events, let fields = eventTable?.fields(of: event, batchEnd: batchEnd) else { return }
        let columns = events.columns
        try events.append { buffer in
            for (index, column) in columns.enumerated() {
                if index > 0 { buffer.append(",") }
                if let text = fields[column] { buffer.append(field: text) }
            }
        }
    }

    /// Both tables are written to their ends before either gets its name. They disappear when nothing ever began.
    mutating func close() throws(SinkError) {
        let (rows, events) = (rows, events)
        forget()
        guard hasBegun else { return }
        try rows?.complete()
        try events?.complete()
        try rows?.finish()
        try events?.finish()
    }

    /// It cannot be mended: what was written is no whole table, and nothing more shall follow it.
    mutating func giveUp(_ error: SinkError) -> SinkError {
        forget()
        return error
    }

    private mutating func forget() {
        (rows, events, header) = (nil, nil, nil)
    }
}
