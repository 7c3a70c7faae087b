public import Hemiola

/// The content of one file, or of several that belong together: appends the records of streams to the buffers of its files.
///
/// A ``DocumentFile`` makes one for each file and passes the calls of a sink on to it. It writes the buffers, so that no call is repeated.
public protocol Document: AnyObject {
    /// A stream begins, or continues in this file after a rotation.
    ///
    /// - Parameters:
    ///   - stream: What it begins with.
    ///   - frame: The first frame of the stream in this file.
    func begin(_ stream: StreamHeader, at frame: Int64) throws(Problem)
    /// Frames of the stream up to this one are not in a batch. The default implementation does nothing.
    func skip(to frame: Int64) throws(Problem)
    /// The next batch. The default implementation passes its events on to `write(_:)`.
    func write(_ batch: borrowing Batch) throws(Problem)
    /// An event of the stream. The default implementation does nothing.
    func write(_ event: Event) throws(Problem)
    /// The stream ends.
    func end(_ summary: StreamSummary) throws(Problem)
    /// An input has failed before its first stream. The default implementation does nothing.
    ///
    /// - Returns: Whether it is a part of the content: a file without a stream is kept for it.
    func write(failure: InputEnd) throws(Problem) -> Bool
    /// The file is complete. The default implementation does nothing.
    func finish() throws(Problem)
    /// A call has failed, and the file ends.
    ///
    /// - Returns: What the file keeps, for the message; nil: nothing needs to be said.
    func abandon() -> String?
}

extension Document {
    public func skip(to frame: Int64) throws(Problem) {}
    public func write(_ batch: borrowing Batch) throws(Problem) {
        for place in batch.events.indices { try write(batch.events[place]) }
    }
    public func write(_ event: Event) throws(Problem) {}
    public func write(failure: InputEnd) throws(Problem) -> Bool { false }
    public func finish() throws(Problem) {}
    public func abandon() -> String? { nil }
}

/// The sink that writes documents to files: one file for all inputs, one per input, or rotated files.
///
/// - From files (`SinkTiming.isLive` is false), a file is written beside its path as `.NAME.XXXXXX.partial` and renamed when it is
///   complete. A run that is incomplete, or of which no input could be analysed, does not replace an old file.
/// - In real time, a file is at its path from the start and is kept, also when the run fails. It is not compressed. An existing file with
///   data is refused unless the options append.
/// - Devices, pipes and file descriptors are written in place.
///
/// When the disk is full, a method that writes to a live file throws an error with `Remedy.retry`. The same call with the same argument
/// continues where the failed one stopped; each record is written once. At most one block of records waits in memory.
public final class DocumentFile: Sink {
    /// Makes the content of newly opened files.
    ///
    /// - Parameter files: In the order of their paths.
    public typealias MakeDocument = @Sendable (_ files: [OutputFile], _ context: SinkContext) throws(Problem) -> any Document
    /// The paths of the files of one document.
    ///
    /// - Parameter expand: Replaces the placeholders of a path.
    public typealias Paths = @Sendable (_ context: SinkContext, _ expand: (PathTemplate) -> String) -> [String]

    /// How the streams of one document began and ended.
    private struct Streams {
        var hasBegun = false
        /// Whether a stream was written from its beginning to its end. A live stream ends by interruption only.
        var hasCompleteStream = false
        var isStreamOpen = false
        var hasInterruption = false
        /// Whether a stream ended because of a read error of its input.
        var hasError = false
        /// Whether the content has an input that failed before its first stream.
        var hasFailure = false

        mutating func end(_ reason: StreamSummary.Reason, isLive: Bool) {
            isStreamOpen = false
            switch reason {
            case .endOfInput, .formatChange: hasCompleteStream = true
            case .interrupted where isLive: hasCompleteStream = true
            case .interrupted: hasInterruption = true
            case .error: hasError = true
            }
        }
    }

    private let template: PathTemplate
    private let options: FileOptions
    private let paths: Paths
    private let makeDocument: MakeDocument
    private var context: SinkContext?
    /// The open files; empty if each input has its own and none has begun, and after an error.
    private var files: [OutputFile] = []
    /// nil if there are no files, or if they have their whole content.
    private var document: (any Document)?
    /// The input of the files, and their number.
    private var input = ""
    private var number = 1
    private var streams = Streams()
    /// The last stream.
    private var stream: StreamHeader?
    private var meter: RotationMeter
    /// Batches of the current call, or whole calls, that are in the buffers. Not 0 only inside a call and after one that failed with
    /// `Remedy.retry`.
    private var done = 0
    /// Whether the next batch belongs into files that are not open yet.
    private var isRotating = false

    /// A sink for a path.
    ///
    /// - Parameters:
    ///   - template: The path. If the options rotate, it must contain `{n}` (`FileOptions.template`).
    ///   - options: How its files are written.
    ///   - paths: The paths of a document of several files; by default the one of the template.
    ///   - makeDocument: Makes the content of newly opened files.
    public init(
        _ template: PathTemplate, _ options: FileOptions = FileOptions(), paths: Paths? = nil, makeDocument: @escaping MakeDocument
    ) {
        self.template = template
        self.options = options
        self.paths = paths ?? { _, expand in [expand(template)] }
        self.makeDocument = makeDocument
        meter = RotationMeter(seconds: options.rotation)
    }

    // MARK: - Calls

    /// Opens the file, unless each input has its own: that one is opened by `begin`.
    public func open(_ context: SinkContext) throws(Problem) {
        drop()
        self.context = context
        (meter, input, stream) = (RotationMeter(seconds: options.rotation), "", nil)
        if !template.isPerInput { return try openFiles(number: 1) }
        // What can be known before the first input is said before any work.
        for path in paths(context, { $0.target.path }) { _ = try OutputFile.isCompressed(path, options, isLive: context.timing.isLive) }
    }

    /// Begins a stream. Opens its file first if it has its own.
    public func begin(_ stream: StreamHeader) throws(Problem) {
        try append { () throws(Problem) in
            try place(stream)
            self.stream = stream
            (streams.hasBegun, streams.isStreamOpen) = (true, true)
            try document?.begin(stream, at: 0)
        }
    }

    /// Writes batches of the stream and their events. Opens the next file where the rotation demands it.
    public func write(_ batches: BatchBlock) throws(Problem) {
        guard document != nil || isRotating else { return }
        try perform { () throws(Problem) in
            while true {
                try flushIfDue()
                guard done < batches.count else { return }
                try document?.skip(to: batches[done].frame)
                if options.rotation != nil { try rotateIfFull(before: batches[done]) }
                try document?.write(batches[done])
                done += 1
            }
        }
    }

    /// Writes events of the stream that are in no batch.
    public func write(_ events: [Event]) throws(Problem) {
        guard let document else { return }
        try append { () throws(Problem) in
            for event in events { try document.write(event) }
        }
    }

    /// Writes the end of the stream.
    public func end(_ summary: StreamSummary) throws(Problem) {
        guard let document, let stream else { return }
        try append { () throws(Problem) in
            streams.end(summary.reason, isLive: stream.isLive)
            try document.skip(to: summary.frames)
            try document.end(summary)
        }
    }

    /// Ends an input: finishes a file of its own. A file of several inputs gets the failure of one without streams, and is flushed if
    /// another program waits for each result.
    public func end(_ input: InputEnd) throws(Problem) {
        try perform { () throws(Problem) in
            if template.isPerInput { return try finishFiles() }
            guard let document else { return }
            if done == 0, input.streamCount == 0, input.error != nil, try document.write(failure: input) {
                streams.hasFailure = true
            }
            done = 1
            if context?.run.answersInputs == true { for file in files { try file.flush() } } else { try flushIfDue() }
        }
    }

    /// Writes what is buffered and finishes the file. A file for which no stream began is removed.
    public func close() throws(Problem) {
        defer { drop() }
        try perform { () throws(Problem) in try finishFiles() }
    }

    /// Runs a call that appends records, once although it may be repeated, and writes what is due.
    private func append(_ body: () throws(Problem) -> Void) throws(Problem) {
        try perform { () throws(Problem) in
            if done == 0 { try body() }
            done = 1
            try flushIfDue()
        }
    }

    /// Runs a call. After an error, unless the call can be repeated, the file ends: one that is not at its path yet is removed.
    private func perform(_ body: () throws(Problem) -> Void) throws(Problem) {
        do {
            try body()
            done = 0
        } catch {
            if error.remedy == .retry { throw error }
            var error = error
            if let kept = document?.abandon() { error.message += "; " + kept }
            drop()
            throw error
        }
    }

    private func drop() {
        (document, files, done, isRotating) = (nil, [], 0, false)
    }

    private func flushIfDue() throws(Problem) {
        for file in files { try file.flushIfDue() }
    }

    // MARK: - Files

    /// Chooses the file of a stream, and opens it if it is not open.
    private func place(_ stream: StreamHeader) throws(Problem) {
        let source = stream.outputPath
        meter.beginStream()
        // A live run has one input: the streams of further devices or formats go to the same file.
        if template.isPerInput, files.isEmpty || source != input && !stream.isLive {
            try finishFiles()
            input = source
            try openFiles(number: 1)
            meter.beginFile()
        } else if streams.hasBegun {
            let isOther = options.capacity == .stream && !template.isPerInput || options.capacity == .input && source != input
            if isOther, !stream.isLive {
                throw Problem("cannot write \(path.name): the file can hold one input; write {stem} in the path")
            }
            if options.capacity == .stream { try continueInNextFile() }
        } else {
            input = source
        }
    }

    /// The path of the first file.
    private var path: OutputTarget { files.first?.target ?? template.target }

    /// A file ends because the device or its format has changed.
    private func continueInNextFile() throws(Problem) {
        let cause = "\(path.name) ends here: the device or its format changed"
        if path.isSpecial { throw Problem(cause + "; give a path to continue in another file") }
        try finishFiles()
        try openFiles(number: number + 1)
        meter.beginFile()
        context?.messages.warn("\(cause); the recording continues in \(path.name)")
    }

    /// Opens the files of the next document.
    ///
    /// - Parameter first: The smallest number. In real time the numbers of existing files are skipped, because they are never replaced.
    private func openFiles(number first: Int) throws(Problem) {
        guard let context else { return }
        let time = MonotonicTime.localText(context.run.startTime)
        func paths(_ number: Int) -> [String] {
            self.paths(context) { template in
                (first > 1 ? template.numbered() : template).path(.init(input: input, time: time, number: number))
            }
        }
        number = first
        if context.timing.isLive, options.appends != true, first > 1 || template.isNumbered {
            // A path without the number is refused when it is opened.
            while zip(paths(number), paths(number + 1)).contains(where: { $0 != $1 && OutputTarget($0).isOccupied }) { number += 1 }
        }
        var opened: [OutputFile] = []
        do {
            for path in paths(number) { opened.append(try OutputFile(path, options, context)) }
        } catch {
            throw context.timing.isLive ? error : error.withoutRetry
        }
        (files, streams) = (opened, Streams())
        document = try makeDocument(opened, context)
    }

    private func rotateIfFull(before batch: borrowing Batch) throws(Problem) {
        guard let stream else { return }
        if !isRotating {
            isRotating = meter.isFull(at: stream.format.seconds(at: batch.frame), end: stream.format.seconds(at: batch.endFrame))
        }
        guard isRotating else { return }
        try completeFiles()
        for file in files { _ = try file.finish(.replace) }
        files = []
        try openFiles(number: number + 1)
        isRotating = false
        (streams.hasBegun, streams.isStreamOpen) = (true, true)
        try document?.begin(stream, at: batch.frame)
        try flushIfDue()
    }

    /// Writes files of one document to their ends, before any of them gets its path.
    private func completeFiles() throws(Problem) {
        try document?.finish()
        document = nil
        for file in files { try file.flush() }
    }

    private func finishFiles() throws(Problem) {
        guard streams.hasBegun || streams.hasFailure, !files.isEmpty, let context else { return drop() }
        try completeFiles()
        let ending = ending(context)
        for file in files {
            let isAtPath = try file.finish(ending)
            // A new file of failures alone is whole.
            let isWhole = isAtPath && !streams.hasBegun
            if ending != .replace, !isWhole, !file.target.isSpecial, context.run.keepsInterruptedResults {
                let isFailed = streams.hasError || streams.hasFailure
                let cause = isFailed ? "the input was not analysed to its end" : "the run was interrupted"
                let result =
                    isAtPath
                    ? "the file has what was analysed before"
                    : file.target.isOccupied ? "the old file is unchanged" : "no file was written"
                context.messages.warn("\(file.target.name): \(cause); \(result)")
            }
        }
        files = []
    }

    /// Where the files go, by the way in which their streams ended.
    private func ending(_ context: SinkContext) -> OutputFile.Ending {
        let isWhole = options.kind == .whole
        if context.timing.isLive, !isWhole { return .replace }
        let isIncompleteRun = !template.isPerInput && stream?.isLive == false && !context.run.isComplete
        let wasInterrupted = streams.isStreamOpen || streams.hasInterruption || isIncompleteRun
        if !context.run.keepsInterruptedResults { return wasInterrupted ? .discard : .replace }
        if !wasInterrupted, streams.hasCompleteStream { return .replace }
        if isWhole, wasInterrupted { return .discard }
        // Either all files of a document get their paths, or none: they would be of different runs.
        return files.count > 1 && files.contains { $0.target.isOccupied } ? .discard : .create
    }
}
