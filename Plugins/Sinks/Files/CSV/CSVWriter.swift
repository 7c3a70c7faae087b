internal import Hemiola
internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// The sink `csv`: batches into one table, events into another. From files, neither takes its path before both are written.
final class CSVWriter: Sink {
    fileprivate struct State: ~Copyable {
        let places: TablePlaces
        let plan: OutputPlan
        var opener: OutputOpener?
        var selection = Selection.all
        var catalog = RecordCatalog.standard
        // The tables under way. Where each input has its own, none before the first begins.
        var rows: TableFile?
        var events: TableFile?
        var number = 1
        var input = ""
        var streams = WrittenStreams()
        var meter: RotationMeter
        // Of the stream under way.
        var header: StreamHeader?
        var batchTable: BatchTable?
        var eventTable: EventTable?
    }

    private var state: State

    init(_ places: TablePlaces, _ plan: OutputPlan) {
        state = State(places: places, plan: plan, meter: RotationMeter(plan.rotation))
    }

    func open(_ context: SinkContext) throws(Problem) {
        do throws(Problem) { try state.open(context) } catch { throw state.giveUp(error) }
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        do throws(Problem) { try state.begin(stream) } catch { throw state.giveUp(error) }
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        do throws(Problem) { try state.write(batches) } catch { throw state.giveUp(error) }
    }

    func write(_ events: [Event]) throws(Problem) {
        do throws(Problem) {
            for event in events { try state.write(event, batchEnd: event.time) }
        } catch {
            throw state.giveUp(error)
        }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        do throws(Problem) { try state.end(summary) } catch { throw state.giveUp(error) }
    }

    func end(_ input: InputEnd) throws(Problem) {
        do throws(Problem) { try state.end(input) } catch { throw state.giveUp(error) }
    }

    func close() throws(Problem) {
        do throws(Problem) { try state.close() } catch { throw state.giveUp(error) }
    }
}

extension CSVWriter.State {
    mutating func open(_ context: SinkContext) throws(Problem) {
        selection = context.selection
        catalog = context.catalog
        opener = OutputOpener(plan, context)
        streams = WrittenStreams()
        if !places.isPerInput { try openTables(number: 1) }
    }

    private mutating func openTables(number first: Int) throws(Problem) {
        guard let opener else { return }
        let wanted = TablesWanted(rows: selection.contains("batch"), events: EventTable.isWanted(by: selection, catalog))
        func paths(_ number: Int) -> (rows: String?, events: String?) {
            places.paths(wanted) { opener.path($0, for: input, number: number) }
        }
        number = places.isNumbered ? opener.freeNumber(from: first) { [paths($0).rows, paths($0).events].compactMap(\.self) } : first
        let (rowsPath, eventsPath) = paths(number)
        streams = WrittenStreams()
        rows = try rowsPath.map { path throws(Problem) in try TableFile(path, opener.open(path)) }
        events = try eventsPath.map { path throws(Problem) in try TableFile(path, opener.open(path)) }
    }

    mutating func begin(_ stream: StreamHeader) throws(Problem) {
        let source = stream.outputPath
        meter.beginStream()
        // In real time there is one input: another device or format continues its files.
        if places.isPerInput, rows == nil && events == nil || source != input && !stream.isLive {
            try finishTables()
            input = source
            try openTables(number: 1)
            meter.beginFile()
        }
        header = stream
        try beginTables(stream)
    }

    private mutating func beginTables(_ stream: StreamHeader) throws(Problem) {
        streams.begin(isLive: stream.isLive)
        let batches = BatchTable(stream, selection: selection)
        try rows?.begin(batches.names)
        batchTable = batches.arranged(as: rows?.columns ?? [])
        let happenings = EventTable(stream, selection: selection)
        try events?.begin(happenings.names)
        eventTable = happenings
    }

    mutating func write(_ batches: BatchBlock) throws(Problem) {
        guard let header else { return }
        for index in 0..<batches.count {
            let batch = batches[index]
            let end = header.format.seconds(at: batch.endFrame)
            if plan.rotation.isOn { try rotateIfFull(at: header.format.seconds(at: batch.frame), end: end, header) }
            if let rows, let batchTable, batch.hasValues {
                try rows.append { buffer in batchTable.encode(batches[index], into: &buffer) }
            }
            guard events != nil, !batch.events.isEmpty else { continue }
            for place in batch.events.indices { try write(batch.events[place], batchEnd: end) }
        }
    }

    /// Both tables go on in new files.
    private mutating func rotateIfFull(at start: Double, end: Double, _ header: StreamHeader) throws(Problem) {
        guard meter.isFull(at: start, end: end, size: max(rows?.size ?? 0, events?.size ?? 0)) else { return }
        try rows?.complete()
        try events?.complete()
        try rows?.finish()
        try events?.finish()
        try openTables(number: number + 1)
        try beginTables(header)
    }

    mutating func end(_ summary: StreamSummary) throws(Problem) {
        guard let header else { return }
        let end = header.format.seconds(at: summary.frames)
        for event in summary.lateEvents { try write(event, batchEnd: end) }
        self.header = nil
        streams.end(summary.reason)
    }

    fileprivate func write(_ event: Event, batchEnd: Double) throws(Problem) {
        guard let events, let row = eventTable?.row(of: event, batchEnd: batchEnd, columns: events.columns) else { return }
        try events.append { buffer in
            for (index, text) in row.enumerated() {
                if index > 0 { buffer.append(",") }
                buffer.append(field: text)
            }
        }
    }

    /// The tables of an input are finished; those of several inputs are flushed if another program waits for them.
    mutating func end(_ input: InputEnd) throws(Problem) {
        if places.isPerInput {
            try finishTables()
        } else if opener?.answersInputs == true {
            try rows?.flush()
            try events?.flush()
        }
    }

    /// The files are finished. They disappear when nothing ever began.
    mutating func close() throws(Problem) {
        defer { forget() }
        try finishTables()
    }

    /// Both tables are written to their ends before either gets its path. A table of an interrupted run does not take its path where
    /// the other one's path has a file: the two would be of different runs.
    private mutating func finishTables() throws(Problem) {
        guard streams.hasBegun, let opener else { return }
        try rows?.complete()
        try events?.complete()
        let isWholeRun = !places.isPerInput
        let ending = opener.ending(of: streams, at: [rows?.path, events?.path].compactMap(\.self), isWholeRun: isWholeRun)
        try rows?.finish(streams, opener, isWholeRun: isWholeRun, ending: ending)
        try events?.finish(streams, opener, isWholeRun: isWholeRun, ending: ending)
        (rows, events) = (nil, nil)
    }

    /// No retry: the table is incomplete, and no row may follow.
    mutating func giveUp(_ error: Problem) -> Problem {
        forget()
        return error
    }

    private mutating func forget() {
        (rows, events, header) = (nil, nil, nil)
    }
}
