package import Hemiola
package import HemiolaOutput
package import HemiolaSignal

/// How a sink writes its files, whatever their paths.
package struct OutputPlan: Sendable {
    package var appends: Bool
    package var flush: FlushPolicy
    package var compression: CompressionChoice
    package var level: Int
    package var rotation: FileRotation
    /// Whether the sink has a setting `append`.
    package var offersAppend: Bool
    /// Whether line ends between quotes are part of a line, as in CSV.
    package var quotesLines: Bool

    package init(
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

/// Opens and ends the files of one sink in one run.
package struct OutputOpener: Sendable {
    package let plan: OutputPlan
    private let isLive: Bool
    private let time: String
    private let syncsFiles: Bool
    private let isRunComplete: @Sendable () -> Bool
    private let warn: @Sendable (String) -> Void

    package init(_ plan: OutputPlan, _ context: SinkContext) {
        self.plan = plan
        isLive = context.isLive
        time = PathTemplate.timeText(context.startTime)
        syncsFiles = context.syncsFiles
        isRunComplete = context.isRunComplete
        warn = context.warn
    }

    // MARK: - Paths

    /// What a path stands for.
    ///
    /// - Parameters:
    ///   - input: The path of the input whose records the file gets; empty when it is that of all inputs.
    ///   - number: The number of the file.
    package func path(_ template: PathTemplate, for input: String = "", number: Int = 1) -> String {
        template.path(PathTemplate.Values(input: input, time: time, number: number))
    }

    /// The number of the next file. In real time one whose paths are all free, for nothing is replaced then.
    ///
    /// - Parameters:
    ///   - first: The smallest number.
    ///   - paths: The paths with a number, each of which must contain it.
    package func freeNumber(from first: Int, paths: (Int) -> [String]) -> Int {
        var number = first
        guard isLive, !plan.appends else { return number }
        while paths(number).contains(where: { OutputTarget($0).isOccupied }) { number += 1 }
        return number
    }

    // MARK: - Files

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - isDocument: Whether the file is of use only when it is whole, so that it does not appear before that.
    ///   - flushesAtOnce: Whether each line leaves by itself; nil: as planned.
    package func open(_ path: String, isDocument: Bool = false, flushesAtOnce: Bool? = nil) throws(SinkError) -> BufferedOutput {
        let compression = plan.compression.compression(of: path, level: plan.level)
        let mode: OutputMode = plan.appends ? .append : !isLive ? .replace : isDocument ? .create : .live
        return try BufferedOutput(
            OutputTarget(path), mode: mode, compression: compression,
            flushesAtOnce: flushesAtOnce ?? plan.flush.isAtOnce(isLive: isLive), syncsAtEnd: syncsFiles,
            offersAppend: plan.offersAppend && compression == nil, quotesLines: plan.quotesLines)
    }

    /// What becomes of a file that holds these streams.
    ///
    /// - Parameters:
    ///   - isWholeRun: Whether the file is that of all inputs, so that it is complete only when the run is.
    ///   - isDocument: Whether it is of use only when it is whole.
    package func ending(of streams: WrittenStreams, isWholeRun: Bool, isDocument: Bool = false) -> OutputEnding {
        let wasCut = streams.wasInterrupted || isWholeRun && !streams.isLive && !isRunComplete()
        if isLive && !isDocument { return .replace }
        if !wasCut, streams.hasWhole { return .replace }
        return isDocument && wasCut ? .discard : .create
    }

    /// What becomes of several files that hold these streams and belong together: all take their paths, or none does.
    package func ending(of streams: WrittenStreams, at paths: [String], isWholeRun: Bool) -> OutputEnding {
        let ending = ending(of: streams, isWholeRun: isWholeRun)
        return ending == .create && paths.contains { OutputTarget($0).isOccupied } ? .discard : ending
    }

    /// Ends a file, and reports one that is not what was asked for.
    ///
    /// - Parameter ending: What becomes of it; nil: as its streams ended.
    package func finish(
        _ output: inout BufferedOutput, at path: String, _ streams: WrittenStreams, isWholeRun: Bool, isDocument: Bool = false,
        ending: OutputEnding? = nil
    ) throws(SinkError) {
        let ending = ending ?? self.ending(of: streams, isWholeRun: isWholeRun, isDocument: isDocument)
        let isThere = try output.finish(ending)
        let target = OutputTarget(path)
        if ending == .replace || target.isSpecial { return }
        let cause = "\(target.name): " + (streams.hasError ? "the input was not analysed to its end; " : "the run was interrupted; ")
        if isThere {
            warn(cause + "the file holds what was written until then")
        } else {
            warn(cause + (target.isOccupied ? "the old file was left as it was" : "no file was written"))
        }
    }
}

/// What is known of the streams that a file holds.
package struct WrittenStreams: Sendable {
    /// Whether any began.
    package private(set) var hasBegun = false
    /// Whether any came to its end.
    package private(set) var hasWhole = false
    /// Whether any ended because the run was stopped, or has not ended.
    package var wasInterrupted: Bool { isUnderWay || hasInterruption }
    /// Whether any ended because its input could not be read further.
    package private(set) var hasError = false
    /// Whether the last one is of a live capture, whose only end is an interruption.
    private(set) var isLive = false
    private var isUnderWay = false
    private var hasInterruption = false

    package init() {}

    package mutating func begin(isLive: Bool) {
        (hasBegun, isUnderWay, self.isLive) = (true, true, isLive)
    }

    package mutating func end(_ reason: StreamSummary.Reason) {
        isUnderWay = false
        switch reason {
        case .endOfInput, .formatChange: hasWhole = true
        case .interrupted where isLive: hasWhole = true
        case .interrupted: hasInterruption = true
        case .error: hasError = true
        }
    }
}
