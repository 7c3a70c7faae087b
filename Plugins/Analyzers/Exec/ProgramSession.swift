internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// The conversation with one run of a program: a line that describes the stream, then a block of samples and its answer at a time.
///
/// Used by one thread at a time. Every method returns at the time limit; the memory for what the program prints is bounded.
final class ProgramSession: BlockSession {
    /// An event, and its time in frames since the first frame that the program got.
    struct TimedEvent {
        var frame: Int64
        var event: Event
    }

    /// Bytes of a line.
    static let longestLine = 1 << 20
    /// Bytes of lines that the program has printed and that were not read.
    static let mostWaitingBytes = 8 << 20
    /// Events of one block.
    static let maximumEvents = 256
    /// Values and characters of an event.
    static let maximumValues = 64
    static let longestLabel = 200
    /// Seconds that an event may lie in the future: an announced beat.
    static let longestAhead = 60.0

    private let settings: ProgramSettings
    private let program: RunningProgram
    private let isCancelled: () -> Bool
    private let outputs: ProgramOutputs

    var declared: AnalyzerOutputs { outputs.declared }

    /// The values of the last answer, in the order of the row; NaN where there is none.
    private(set) var values: [Float]
    /// The events since the last call of `takeEvents`, with times in frames that the program has got.
    private var events: [TimedEvent] = []

    private let format: StreamFormat
    private let sampleRate: Double
    private var frames: FrameMap
    private let blockFrames: Int64
    private var framesSent: Int64 = 0
    private var lines = LineSplitter(limit: longestLine)
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Seconds of a wait, after which `isCancelled` is called.
    private static let slice = 0.1

    /// Starts the program, sends it the format, and waits for its declaration.
    ///
    /// - Parameters:
    ///   - start: The line that describes the stream, with its line feed.
    ///   - report: Receives the lines of standard error.
    ///   - isCancelled: Whether to stop waiting.
    init(
        _ settings: ProgramSettings, start: [UInt8], format: AnalysisFormat, report: @escaping @Sendable (String) -> Void,
        isCancelled: @escaping () -> Bool
    ) throws(Problem) {
        self.settings = settings
        self.isCancelled = isCancelled
        self.format = format.format
        sampleRate = Double(format.sampleRate)
        frames = FrameMap(blockFrames: format.hopFrames)
        blockFrames = Int64(format.hopFrames)
        let program: RunningProgram
        do throws(SystemCallError) {
            program = try RunningProgram(settings.command, hasInput: true, output: .pipe, report: report)
        } catch {
            throw Problem("cannot be started: \(error); check the command")
        }
        self.program = program
        let deadline = MonotonicTime.now + settings.timeout
        var lines = LineSplitter(limit: Self.longestLine)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var declaration: [UInt8]?
        var sent = 0
        while declaration == nil {
            if sent < start.count {
                let result = start.withUnsafeBytes { program.write(UnsafeRawBufferPointer(rebasing: $0[sent...]), within: Self.slice) }
                if case .bytes(let count) = result { sent += count }
            }
            switch Self.read(program, &buffer, within: Self.slice) {
            case .bytes(let count): try Self.append(buffer[..<count], to: &lines)
            case .end: throw Self.ended(program)
            case .timeout: break
            }
            declaration = try Self.nextLine(of: &lines)
            if declaration == nil, MonotonicTime.now > deadline || isCancelled() {
                program.stop()
                throw Problem(
                    "has not declared its outputs within \(settings.timeout.rounded(toPlaces: 1)) s; it prints them first, as one line of JSON"
                )
            }
        }
        outputs = try ProgramOutputs(declaration ?? [])
        values = [Float](repeating: .nan, count: outputs.declared.width)
        (self.lines, self.buffer) = (lines, buffer)
    }

    // MARK: - Blocks

    /// Sends a block and waits for its answer, which is then in `values`.
    ///
    /// - Parameters:
    ///   - block: The samples as the program gets them.
    ///   - frame: The first frame of the block in the stream.
    func exchange(_ block: [UInt8], at frame: Int64) throws(Problem) {
        frames.append(blockAt: frame)
        let deadline = MonotonicTime.now + settings.timeout
        try readAvailable()
        while let line = try Self.nextLine(of: &lines) {
            guard try !handle(line) else { throw Problem("has answered more blocks than it got") }
        }
        var sent = 0
        while sent < block.count {
            // The program may print much before it reads.
            switch block.withUnsafeBytes({ program.write(UnsafeRawBufferPointer(rebasing: $0[sent...]), within: 0.02) }) {
            case .bytes(let count): sent += count
            case .closed: throw Self.ended(program)
            case .timeout:
                try readAvailable()
                try check(deadline, "has not read a block of samples")
            }
        }
        framesSent += blockFrames
        while true {
            while let line = try Self.nextLine(of: &lines) {
                if try handle(line) { return program.reportLines() }
            }
            try read(until: deadline)
            try check(deadline, "has not answered a block")
        }
    }

    /// Ends the input of the program, and reads its last events.
    func finish() throws(Problem) {
        program.closeInput()
        let deadline = MonotonicTime.now + settings.timeout
        reading: while true {
            switch Self.read(program, &buffer, within: Self.slice) {
            case .bytes(let count): try Self.append(buffer[..<count], to: &lines)
            case .end: break reading
            case .timeout: try check(deadline, "has not ended after the end of its input")
            }
            while let line = try Self.nextLine(of: &lines) {
                guard try !handle(line) else { throw Problem("has answered more blocks than it got") }
            }
        }
        guard program.end(within: max(0.1, deadline - MonotonicTime.now)) else {
            throw Problem("has not ended after the end of its input, and was ended")
        }
        if program.exit?.isSuccess == false { throw Problem(program.reasonForEnd) }
    }

    /// Ends the program: SIGTERM, then SIGKILL.
    func stop() { program.stop() }

    func takeEvents() -> [Event] {
        defer { events.removeAll(keepingCapacity: true) }
        return events.map { timed in
            var event = timed.event
            event.time = format.seconds(at: frames.streamFrame(of: timed.frame))
            return event
        }
    }

    // MARK: - Reading

    private static var tooMuchOutput: Problem {
        Problem("has printed a line of more than \(longestLine >> 20) MiB, or lines faster than they are read")
    }

    private static func append(_ bytes: ArraySlice<UInt8>, to lines: inout LineSplitter) throws(Problem) {
        lines.append(bytes)
        guard lines.pendingCount <= mostWaitingBytes else { throw tooMuchOutput }
    }

    private static func nextLine(of lines: inout LineSplitter) throws(Problem) -> [UInt8]? {
        while let line = lines.next() {
            guard !line.isCut else { throw tooMuchOutput }
            if !line.isBlank { return line.bytes }
        }
        return nil
    }

    private func readAvailable() throws(Problem) {
        while case .bytes(let count) = buffer.withUnsafeMutableBytes({ program.read(into: $0, within: 0) }) {
            try Self.append(buffer[..<count], to: &lines)
        }
    }

    private func read(until deadline: Double) throws(Problem) {
        let wait = max(0.001, min(Self.slice, deadline - MonotonicTime.now))
        switch Self.read(program, &buffer, within: wait) {
        case .bytes(let count): try Self.append(buffer[..<count], to: &lines)
        case .end: throw Self.ended(program)
        case .timeout: break
        }
    }

    /// Reads what the program prints. Its output ends with the program, even if another one that it has started keeps it open.
    private static func read(_ program: RunningProgram, _ buffer: inout [UInt8], within seconds: Double) -> RunningProgram.ReadResult {
        let result = buffer.withUnsafeMutableBytes { program.read(into: $0, within: seconds) }
        guard result == .timeout, program.waitForExit(within: 0) else { return result }
        let rest = buffer.withUnsafeMutableBytes { program.read(into: $0, within: 0) }
        return rest == .timeout ? .end : rest
    }

    private func check(_ deadline: Double, _ what: String) throws(Problem) {
        guard MonotonicTime.now > deadline || isCancelled() else { return }
        program.stop()
        throw Problem("\(what) for \(settings.timeout.rounded(toPlaces: 1)) s, and was ended")
    }

    private static func ended(_ program: RunningProgram) -> Problem {
        // A program that only closes its output is of no use any more.
        if !program.waitForExit(within: 0.5) { program.stop() }
        return Problem(program.exit?.isSuccess == true ? "ended before the stream" : program.reasonForEnd)
    }

    /// Reads an answer or an event.
    ///
    /// - Returns: Whether the line is an answer.
    private func handle(_ line: [UInt8]) throws(Problem) -> Bool {
        let value = try JSONValue(line: line)
        guard let members = value.members else { throw Problem("has printed a line that is no JSON object") }
        if let name = value["event"] {
            try add(event: value, name: name.string ?? "")
            return false
        }
        for index in values.indices { values[index] = .nan }
        for member in members {
            guard let feature = outputs.features.first(where: { $0.name == member.key }) else {
                throw Problem("has printed the key \"\(String(member.key.prefix(60)).onOneLine)\", which it has not declared")
            }
            try set(feature.handle, member)
        }
        return true
    }

    private func set(_ handle: FeatureHandle, _ member: JSONValue.Member) throws(Problem) {
        func number(_ value: JSONValue) throws(Problem) -> Float {
            if value == .null { return .nan }
            guard let number = value.double, Float(number).isFinite else {
                throw Problem("has printed a \"\(member.key)\" that is no number")
            }
            return Float(number)
        }
        if let elements = member.value.elements {
            guard elements.count == handle.count else {
                throw Problem("has printed \(elements.count) values of \"\(member.key)\" instead of \(handle.count)")
            }
            for (index, element) in elements.enumerated() { values[handle.offset + index] = try number(element) }
        } else {
            guard handle.count == 1 else {
                throw Problem("has printed one value of \"\(member.key)\" instead of a list of \(handle.count)")
            }
            values[handle.offset] = try number(member.value)
        }
    }

    private func add(event value: JSONValue, name: String) throws(Problem) {
        guard let type = outputs.events[name] else {
            throw Problem("has printed the event \"\(String(name.prefix(60)).onOneLine)\", which it has not declared")
        }
        guard let frame = value["frame"]?.integer, frame >= 0, Double(frame) <= Double(framesSent) + Self.longestAhead * sampleRate else {
            throw Problem("has printed an event without a \"frame\" that is 0 or more and not far in the future")
        }
        guard events.count < Self.maximumEvents else {
            throw Problem("has printed more than \(Self.maximumEvents) events for one block")
        }
        let event: Event
        switch type {
        case .onset:
            event = Event(at: 0, Onset(strength: try number(value, "strength", minimum: 0)))
        case .beat:
            let position = value["position"]?.integer
            event = Event(
                at: 0,
                Beat(
                    beatsPerMinute: try number(value, "bpm", minimum: 0), position: position.map { max(1, $0) },
                    confidence: min(1, try number(value, "confidence", minimum: 0))))
        default:
            var numbers: [Double] = []
            for element in value["values"]?.elements ?? [] {
                guard let number = element.double, numbers.count < Self.maximumValues else {
                    throw Problem("has printed an event whose \"values\" are not up to \(Self.maximumValues) numbers")
                }
                numbers.append(number)
            }
            let label = value["label"]?.string ?? ""
            guard label.count <= Self.longestLabel else {
                throw Problem("has printed an event whose \"label\" has more than \(Self.longestLabel) characters")
            }
            let duration = value["duration_s"] == nil || value["duration_s"] == .null ? nil : try number(value, "duration_s", minimum: 0)
            event = Event(at: 0, AnalyzerEvent(output: name, duration: duration, values: numbers, label: label))
        }
        events.append(TimedEvent(frame: Int64(frame), event: event))
    }

    private func number(_ value: JSONValue, _ key: String, minimum: Double) throws(Problem) -> Double {
        guard let number = value[key]?.double, number >= minimum else {
            throw Problem("has printed an event whose \"\(key)\" is no number of \(minimum) or more")
        }
        return number
    }
}
