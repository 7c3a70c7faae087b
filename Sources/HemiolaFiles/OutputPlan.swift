public import Hemiola
public import HemiolaRecords
public import HemiolaSystem

/// The options with which a sink opens all of its files.
public struct OutputPlan: Sendable {
    /// Whether to append to existing files.
    public var appends: Bool
    /// When lines are written.
    public var flush: FlushPolicy
    /// Which files are compressed.
    public var compression: CompressionChoice
    /// The zstd level of compressed files.
    public var level: Int
    /// When a recording continues in a new file.
    public var rotation: FileRotation
    /// Whether the sink has a setting `append`, which messages then suggest.
    public var offersAppend: Bool
    /// Whether line breaks between double quotes are part of a line, as in CSV. Such a file is never cut between quotes.
    public var quotesLines: Bool

    /// Creates a plan; without arguments, files are replaced, not compressed unless their path ends in `.zst`, and not rotated.
    public init(
        appends: Bool = false, flush: FlushPolicy = .auto, compression: CompressionChoice = .auto,
        level: Int = Compression.standardLevel, rotation: FileRotation = FileRotation(), offersAppend: Bool = false,
        quotesLines: Bool = false
    ) {
        self.appends = appends
        self.flush = flush
        self.compression = compression
        self.level = level
        self.rotation = rotation
        self.offersAppend = offersAppend
        self.quotesLines = quotesLines
    }
}

/// Opens and finishes the files of one sink in one run, by the rules that all of Hemiola's sinks follow.
///
/// - From files (`SinkContext.isLive` is false), a file is written beside its path as `.NAME.XXXXXX.partial` and renamed when it is
///   complete. An incomplete run does not replace an old file.
/// - In real time, a file is at its path from the start and is kept, also when the run fails. An existing file with data is refused unless
///   the plan appends.
/// - Devices, pipes and file descriptors are written in place.
public struct OutputOpener: Sendable {
    /// The options of all files.
    public let plan: OutputPlan
    private let isLive: Bool
    private let time: String
    private let syncsFiles: Bool
    private let isRunComplete: @Sendable () -> Bool
    private let warn: @Sendable (String) -> Void
    /// Whether another program waits for the records of each input (`SinkContext.answersInputs`).
    public let answersInputs: Bool
    private let keepsInterruptedResults: Bool

    /// Creates an opener for a run. Call in `Sink.open`.
    public init(_ plan: OutputPlan, _ context: SinkContext) {
        self.plan = plan
        isLive = context.isLive
        time = PathTemplate.timeText(context.startTime)
        syncsFiles = context.syncsFiles
        isRunComplete = context.isRunComplete
        warn = context.warn
        answersInputs = context.answersInputs
        keepsInterruptedResults = context.keepsInterruptedResults
    }

    // MARK: - Paths

    /// The path of a file.
    ///
    /// - Parameters:
    ///   - template: The path with placeholders.
    ///   - input: The path of the input whose records the file gets (`StreamHeader.outputPath`); empty if the file gets those of all inputs.
    ///   - number: The number of the file, from 1.
    public func path(_ template: PathTemplate, for input: String = "", number: Int = 1) -> String {
        template.path(PathTemplate.Values(input: input, time: time, number: number))
    }

    /// The number of the next file. In real time existing files are skipped, because they are never replaced.
    ///
    /// - Parameters:
    ///   - first: The smallest number to return.
    ///   - paths: Returns the paths for a number. Each must contain the number.
    public func freeNumber(from first: Int, paths: (Int) -> [String]) -> Int {
        var number = first
        guard isLive, !plan.appends else { return number }
        while paths(number).contains(where: { OutputTarget($0).isOccupied }) { number += 1 }
        return number
    }

    // MARK: - Files

    /// Opens a file and creates missing folders.
    ///
    /// - Parameters:
    ///   - path: The path, without placeholders. The plan decides by it whether the file is compressed.
    ///   - isDocument: Whether the file can only be read when it is complete (MIDI, JSON). It then appears at its path when it is
    ///     finished, also in real time.
    ///   - flushesEachLine: Whether each line is written at once; nil: as in the plan.
    ///   - retriesWrites: Whether a write to a live file that fails because the disk is full throws `Remedy.retry` instead of
    ///     closing the file. The engine then repeats the sink's call after a pause. The sink must not append the same bytes again, and
    ///     must call `flushIfDue`.
    /// - Throws: The file cannot be opened. The message names the path, the cause and what to do.
    public func open(
        _ path: String, isDocument: Bool = false, flushesEachLine: Bool? = nil, retriesWrites: Bool = false
    ) throws(Problem) -> BufferedOutput {
        let compression = plan.compression.compression(of: path, level: plan.level)
        let mode: OutputMode = plan.appends ? .append : !isLive ? .replace : isDocument ? .create : .live
        return try BufferedOutput(
            OutputTarget(path), mode: mode, compression: compression,
            flushesEachLine: flushesEachLine ?? plan.flush.flushesEachLine(isLive: isLive), syncsAtEnd: syncsFiles,
            offersAppend: plan.offersAppend && compression == nil, quotesLines: plan.quotesLines,
            retriesWrites: retriesWrites)
    }

    /// The ending of a file that holds these streams.
    ///
    /// - Parameters:
    ///   - streams: How the streams of the file began and ended.
    ///   - isWholeRun: Whether the file holds the records of all inputs, so that it is complete only when the run is.
    ///   - isDocument: Whether the file can only be read when it is complete.
    public func ending(of streams: WrittenStreams, isWholeRun: Bool, isDocument: Bool = false) -> OutputEnding {
        let wasInterrupted = streams.wasInterrupted || isWholeRun && !streams.isLive && !isRunComplete()
        if isLive && !isDocument { return .replace }
        if !keepsInterruptedResults { return wasInterrupted ? .discard : .replace }
        if !wasInterrupted, streams.hasCompleteStream { return .replace }
        return isDocument && wasInterrupted ? .discard : .create
    }

    /// The ending of several files that belong together: either all get their paths, or none.
    public func ending(of streams: WrittenStreams, at paths: [String], isWholeRun: Bool) -> OutputEnding {
        let ending = ending(of: streams, isWholeRun: isWholeRun)
        return ending == .create && paths.contains { OutputTarget($0).isOccupied } ? .discard : ending
    }

    /// Finishes a file, and warns if it is not at its path or does not hold all records.
    ///
    /// - Parameters:
    ///   - output: The file.
    ///   - path: Its path, for the warning.
    ///   - streams: How the streams of the file began and ended.
    ///   - isWholeRun: Whether the file holds the records of all inputs.
    ///   - isDocument: Whether the file can only be read when it is complete.
    ///   - ending: The ending; nil: `ending(of:isWholeRun:isDocument:)`.
    /// - Throws: The rest could not be written, or the file could not be renamed.
    public func finish(
        _ output: inout BufferedOutput, at path: String, _ streams: WrittenStreams, isWholeRun: Bool, isDocument: Bool = false,
        ending: OutputEnding? = nil
    ) throws(Problem) {
        // Its error was reported.
        guard output.isOpen else { return }
        let ending = ending ?? self.ending(of: streams, isWholeRun: isWholeRun, isDocument: isDocument)
        report(ending, isAtPath: try output.finish(ending), at: path, streams)
    }

    /// Warns if a finished file is not at its path or does not hold all records.
    private func report(_ ending: OutputEnding, isAtPath: Bool, at path: String, _ streams: WrittenStreams) {
        let target = OutputTarget(path)
        if ending == .replace || target.isSpecial || !keepsInterruptedResults { return }
        let cause = "\(target.name): " + (streams.hasError ? "the input was not analysed to its end; " : "the run was interrupted; ")
        if isAtPath {
            warn(cause + "the file holds the records up to that point")
        } else {
            warn(cause + (target.isOccupied ? "the old file is unchanged" : "no file was written"))
        }
    }

    /// Opens a file whose bytes can be written at any offset, by the same rules. It is neither compressed nor appended to.
    ///
    /// - Throws: The file cannot be opened, or the path is a device, a pipe or a file descriptor.
    public func openSeekable(_ path: String) throws(Problem) -> SeekableOutput {
        do throws(Problem) {
            return SeekableOutput(
                try OutputFile(OutputTarget(path), mode: isLive ? .live : .replace, syncsAtEnd: syncsFiles, isSeekable: true))
        } catch {
            throw error.withoutRetry
        }
    }

    /// Finishes a seekable file, and warns if it is not at its path or does not hold all of its streams.
    public func finish(
        _ output: inout SeekableOutput, at path: String, _ streams: WrittenStreams, isWholeRun: Bool
    ) throws(Problem) {
        let ending = self.ending(of: streams, isWholeRun: isWholeRun)
        report(ending, isAtPath: try output.finish(ending), at: path, streams)
    }
}

/// How the streams of one file began and ended.
public struct WrittenStreams: Sendable {
    /// Whether a stream has begun.
    public private(set) var hasBegun = false
    /// Whether a stream was written from its beginning to its end.
    public private(set) var hasCompleteStream = false
    /// Whether a stream has not ended, or ended because the run was stopped.
    public var wasInterrupted: Bool { isStreamOpen || hasInterruption }
    /// Whether a stream ended because of a read error of its input.
    public private(set) var hasError = false
    /// Whether the last stream is live. A live stream ends by interruption only, which then counts as complete.
    private(set) var isLive = false
    private var isStreamOpen = false
    private var hasInterruption = false

    /// Creates the state of a file without streams.
    public init() {}

    /// Call when a stream begins.
    public mutating func begin(isLive: Bool) {
        (hasBegun, isStreamOpen, self.isLive) = (true, true, isLive)
    }

    /// Call when the stream ends, with the reason in its summary.
    public mutating func end(_ reason: StreamSummary.Reason) {
        isStreamOpen = false
        switch reason {
        case .endOfInput, .formatChange: hasCompleteStream = true
        case .interrupted where isLive: hasCompleteStream = true
        case .interrupted: hasInterruption = true
        case .error: hasError = true
        }
    }
}
