public import Hemiola
internal import HemiolaPCM

extension CapturePlugin {
    /// Reads a WAV stream or raw samples from the standard output of a program that it starts.
    public static let exec = CapturePlugin(
        PluginDescription("exec", "Starts a program and reads a WAV stream or raw samples from its standard output.", primary: "command"),
        settings: ExecCaptureSettings.self
    ) { settings throws(Problem) in
        try settings.program.check()
        let format = try settings.raw.format()
        guard settings.spools else { return ExecCapture(settings.program, format, isLive: settings.isLive) }
        if settings.isLive { throw Problem("audio in real time is read once; leave out live or spool", at: "spool") }
        return SpooledExecCapture(settings.program, format, isLive: false)
    }
}

/// The settings of this capture.
struct ExecCaptureSettings: PluginSettings {
    var program: ProgramSettings
    var raw: RawFormatSettings
    var isLive: Bool
    var spools: Bool

    init(_ read: inout SettingReader) {
        program = ProgramSettings(&read)
        raw = RawFormatSettings(&read)
        isLive = read.boolean(
            "live", default: false,
            "The program delivers audio in real time, as a recorder does: it is not paced, and slow sinks lose batches."
        )
        spools = read.spool()
    }
}

/// Reads audio from a program's standard output.
///
/// Nothing is dropped: while `read` is not called, the pipe fills and the program waits. A program that fails ends the input with an error,
/// or in real time is started again; the source is lost meanwhile.
///
/// - Complexity: O(bytes): one copy from the pipe, one conversion. No allocation after `open`, except when the program prints lines on
///   standard error, ends or is started again.
class ExecCapture: Capture {
    let isLive: Bool

    private let settings: ProgramSettings
    private let rawFormat: PCMFormat?
    private var request = FormatRequest()
    private var program: RunningProgram?
    private var reader: PCMReader?
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    private var delay = RetryDelay(longest: ProgramSettings.longestPause)
    /// For the next audio of the program.
    private var limit = ProgramTimeLimit(0, isLive: false)
    private var state = State.reading
    /// Why the program failed, where its audio is stored and can be read again up to that point.
    private var failure: Problem?

    private enum State {
        case reading
        /// The program has failed and is started again later.
        case lost
        /// The program has been started again, which the next reads report: first its device, then its format where it differs.
        case back(StreamSource)
        case over
    }

    /// Seconds that one `read` waits.
    private static let readWait = 0.1

    /// Whether the audio is stored for a second pass.
    var spools: Bool { false }

    init(_ settings: ProgramSettings, _ format: PCMFormat?, isLive: Bool) {
        self.settings = settings
        rawFormat = format
        self.isLive = isLive
    }

    final func open(_ request: FormatRequest) throws(Problem) -> StreamSource {
        self.request = request
        let source = try start()
        format = source.format
        return source
    }

    final func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        switch state {
        case .reading: break
        case .over: return .end
        case .lost: return try restart()
        case .back(let source):
            state = .reading
            guard source.format != format else { return .idle }
            format = source.format
            return .source(source)
        }
        guard let program, let reader else { preconditionFailure("read before open") }
        let result: ReadResult
        do {
            result = try reader.read(into: &samples)
        } catch {
            // A program that ends at once has a better explanation than that its output is empty.
            if program.waitForExit(within: settings.timeout), program.exit?.isSuccess == false { return try fail(program.reasonForEnd) }
            return try fail(error)
        }
        program.reportLines()
        switch result {
        case .frames:
            limit = ProgramTimeLimit(settings.timeout, isLive: isLive)
        case .idle:
            if limit.isExceeded(processorTime: program.processorTime) {
                program.stop()
                return try fail("has written no audio for \(settings.timeout.rounded(toPlaces: 1)) s, and was ended")
            }
        case .end where failure != nil:
            return try failAgain()
        case .end:
            if program.end(within: settings.timeout), program.exit?.isSuccess == false { return try fail(program.reasonForEnd) }
            state = .over
        default: break
        }
        return result
    }

    final func close() {
        reader?.close()
        reader = nil
        program?.stop()
        program = nil
    }

    // MARK: - The program

    /// Starts the program and reads the header of its stream.
    private func start() throws(Problem) -> StreamSource {
        let name = settings.name
        let program: RunningProgram
        do {
            program = try RunningProgram(
                settings.command, hasInput: false, output: .pipe, report: { [warn = request.warn] in warn("\(name): \($0)") })
        } catch {
            throw Problem("\(name): cannot be started: \(error); check the command")
        }
        delay.noteStart(at: request.clock.now)
        var limit = ProgramTimeLimit(settings.timeout, isLive: isLive)
        while !program.waitForOutput(within: Self.readWait) {
            if request.isCancelled() { throw Problem("\(name): interrupted before the audio began", remedy: .finish) }
            guard !limit.isExceeded(processorTime: program.processorTime) else {
                program.stop()
                throw Problem("\(name): has written no audio for \(settings.timeout.rounded(toPlaces: 1)) s, and was ended")
            }
        }
        let kind = spools ? SpooledPCMReader.self : PCMReader.self
        let reader = kind.init(.descriptor(program.output), name: name, kind: "exec", format: rawFormat, advice: .command)
        var limited = request
        // A header is a few bytes, written at once.
        let deadline = Deadline(after: settings.timeout)
        limited.isCancelled = { [isCancelled = request.isCancelled] in isCancelled() || deadline.hasPassed }
        let source: StreamSource
        do {
            source = try reader.open(limited)
        } catch {
            if program.waitForExit(within: min(1, settings.timeout)), program.exit?.isSuccess == false {
                throw Problem("\(name): \(program.reasonForEnd); run it in a shell to see why")
            }
            if !request.isCancelled(), deadline.hasPassed {
                throw Problem("\(name): has not written a whole header for \(settings.timeout.rounded(toPlaces: 1)) s")
            }
            throw error
        }
        (self.program, self.reader) = (program, reader)
        self.limit = ProgramTimeLimit(settings.timeout, isLive: isLive)
        return source
    }

    /// Starts a failed program again when its pause is over.
    private func restart() throws(Problem) -> ReadResult {
        let pause = delay.nextAttempt - request.clock.now
        if pause > 0 {
            request.clock.sleep(for: min(pause, Self.readWait))
            return .idle
        }
        do {
            let source = try start()
            state = .back(source)
            return .device(DeviceEvent(name: settings.name, summary: settings.name, state: .opened, format: source.format))
        } catch {
            if error.remedy == .finish { throw error }
            let pause = delay.noteFailure(at: request.clock.now)
            request.warn("\(error.message); starting it again in \(pause.rounded(toPlaces: 1)) s")
            return .idle
        }
    }

    private func fail(_ reason: String) throws(Problem) -> ReadResult {
        try fail(Problem("\(settings.name): \(reason)"))
    }

    /// Ends the input after a failure while audio is read, or in real time starts the program again later.
    private func fail(_ error: Problem) throws(Problem) -> ReadResult {
        if spools {
            // The second pass reads the audio before the failure.
            failure = error
        } else {
            reader?.close()
            (reader, program) = (nil, nil)
        }
        state = .over
        if settings.policy == .skip {
            request.warn("\(error.message); the audio before was analysed")
            return .end
        }
        guard isLive else { throw advised(error) }
        state = .lost
        let pause = delay.noteFailure(at: request.clock.now)
        request.warn("\(error.message); starting it again in \(pause.rounded(toPlaces: 1)) s")
        return .device(DeviceEvent(name: settings.name, summary: settings.name, state: .lost, format: format))
    }

    private func advised(_ error: Problem) -> Problem {
        Problem("\(error.message); run it in a shell to see why, or set on_error=skip")
    }

    /// The second pass ends where the program failed.
    private func failAgain() throws(Problem) -> ReadResult {
        state = .over
        guard let failure, settings.policy != .skip else { return .end }
        throw advised(failure)
    }

    /// Returns to the first frame of the stored audio.
    fileprivate final func restart() throws(Problem) {
        guard let reader = reader as? SpooledPCMReader else { preconditionFailure("rewind before open") }
        try reader.rewind()
        state = .reading
        limit = ProgramTimeLimit(settings.timeout, isLive: isLive)
    }
}

/// A capture that stores the audio of the program in an unlinked file, so that it can be read again.
final class SpooledExecCapture: ExecCapture, RewindableCapture {
    override var spools: Bool { true }

    func rewind() throws(Problem) {
        try restart()
    }
}
