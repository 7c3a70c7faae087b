internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// The conversation with one run of a program: a line that describes the stream, then a block of samples and its answer at a time.
///
/// Used by one thread at a time. Every method returns when the program has exceeded its time limit; the memory for what the program prints is
/// bounded.
final class ProgramSession {
    /// Bytes of a line.
    static let longestLine = 4 << 20
    /// Bytes of lines that the program has printed and that were not read.
    static let mostWaitingBytes = 16 << 20
    /// Bytes of the events of one block, and of those after the last block.
    static let mostEventBytes = 64 << 20
    /// Seconds that an event may lie in the future: an announced beat.
    static let longestAhead = 60.0

    private let settings: BlockProgram
    private let program: RunningProgram
    private let isLive: Bool
    private let isCancelled: () -> Bool
    /// What the program has declared.
    let outputs: ProgramOutputs

    /// The values of the last answer, in the order of the row; NaN where there is none.
    private(set) var values: [Float]
    /// The events since the last call of `takeEvents`, and the bytes of their lines.
    private var events: [Event] = []
    private var eventBytes = 0
    /// What the program has printed as a warning about the stream; nil: nothing.
    private(set) var warning: String?

    private let format: StreamFormat
    private let sampleRate: Double
    private var frames: FrameMap
    private let blockFrames: Int64
    private var framesSent: Int64 = 0
    private var lines = LineSplitter(limit: longestLine)
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Seconds of a wait, after which `isCancelled` is called.
    private static let slice = 0.1

    /// Starts a program, sends it the format, and waits for its declaration.
    ///
    /// - Parameters:
    ///   - settings: The program.
    ///   - format: The stream.
    ///   - isLive: Whether hops come as time passes.
    ///   - report: Receives the lines of standard error.
    ///   - isCancelled: Whether to stop waiting.
    init(
        _ settings: BlockProgram, _ format: AnalysisFormat, isLive: Bool, report: @escaping @Sendable (String) -> Void,
        isCancelled: @escaping () -> Bool
    ) throws(Problem) {
        self.settings = settings
        self.isLive = isLive
        self.isCancelled = isCancelled
        self.format = format.format
        sampleRate = Double(format.sampleRate)
        frames = FrameMap(blockFrames: format.hopFrames)
        blockFrames = Int64(format.hopFrames)
        program = try Self.start(settings, report: report)
        let start = settings.startLine(format, isLive: isLive)
        let limit = ProgramTimeLimit(settings.timeout, isLive: isLive)
        let declaration = try Self.firstLine(of: program, settings, after: start, within: limit, &lines, isCancelled: isCancelled)
        outputs = try ProgramOutputs(declaration)
        values = [Float](repeating: .nan, count: outputs.declared.width)
    }

    /// Checks the settings of an analyzer with ``AnalyzerService``, without a stream.
    static func check(_ settings: BlockProgram) throws(Problem) {
        let program = try start(settings, report: { _ in })
        var lines = LineSplitter(limit: longestLine)
        let limit = ProgramTimeLimit(settings.timeout, isLive: false)
        let answer = try firstLine(of: program, settings, after: AnalyzerService.check, within: limit, &lines, isCancelled: { false })
        if let error = try JSONValue(line: answer)["error"]?.string { throw .complete(error.onOneLine) }
    }

    private static func start(_ settings: BlockProgram, report: @escaping @Sendable (String) -> Void) throws(Problem) -> RunningProgram {
        do {
            return try RunningProgram(settings.command, hasInput: true, output: .pipe, report: report)
        } catch {
            if settings.isHemiola { throw .complete("\(settings.name) needs the program hemiola (\(error)); install it") }
            throw Problem("cannot be started: \(error); check the command")
        }
    }

    /// Sends a program its first line, and waits for the first line that it prints.
    private static func firstLine(
        of program: RunningProgram, _ settings: BlockProgram, after start: [UInt8], within limit: ProgramTimeLimit,
        _ lines: inout LineSplitter, isCancelled: () -> Bool
    ) throws(Problem) -> [UInt8] {
        var limit = limit
        var buffer = [UInt8](repeating: 0, count: 4096)
        var sent = 0
        while true {
            if sent < start.count {
                let result = start.withUnsafeBytes { program.write(UnsafeRawBufferPointer(rebasing: $0[sent...]), within: slice) }
                if case .bytes(let count) = result { sent += count }
            }
            switch read(program, &buffer, within: slice) {
            case .bytes(let count): try append(buffer[..<count], to: &lines)
            case .end: throw ended(program)
            case .timeout: break
            }
            if let line = try nextLine(of: &lines) { return line }
            guard limit.isExceeded(processorTime: program.processorTime) || isCancelled() else { continue }
            program.stop()
            throw Problem(
                "has not declared its outputs within \(settings.timeout.rounded(toPlaces: 1)) s; it prints them first, as one line of JSON"
            )
        }
    }

    // MARK: - Blocks

    /// Sends a block and waits for its answer, which is then in `values`.
    ///
    /// - Parameters:
    ///   - block: The samples as the program gets them.
    ///   - frame: The first frame of the block in the stream.
    func exchange(_ block: [UInt8], at frame: Int64) throws(Problem) {
        frames.append(blockAt: frame)
        var limit = ProgramTimeLimit(settings.timeout, isLive: isLive)
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
                try check(&limit, "has not read a block of samples")
            }
        }
        framesSent += blockFrames
        while true {
            while let line = try Self.nextLine(of: &lines) {
                if try handle(line) { return program.reportLines() }
            }
            try read()
            try check(&limit, "has not answered a block")
        }
    }

    /// Ends the input of the program, and reads its last events.
    func finish() throws(Problem) {
        program.closeInput()
        var limit = ProgramTimeLimit(settings.timeout, isLive: isLive)
        reading: while true {
            switch Self.read(program, &buffer, within: Self.slice) {
            case .bytes(let count): try Self.append(buffer[..<count], to: &lines)
            case .end: break reading
            case .timeout: try check(&limit, "has not ended after the end of its input")
            }
            while let line = try Self.nextLine(of: &lines) {
                guard try !handle(line) else { throw Problem("has answered more blocks than it got") }
            }
        }
        while !program.waitForExit(within: Self.slice) { try check(&limit, "has not ended after the end of its input") }
        if program.exit?.isSuccess == false { throw Problem(program.reasonForEnd) }
    }

    /// Ends the program: SIGTERM, then SIGKILL.
    func stop() { program.stop() }

    func takeEvents() -> [Event] {
        defer { events.removeAll(keepingCapacity: true) }
        eventBytes = 0
        return events
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

    private func read() throws(Problem) {
        switch Self.read(program, &buffer, within: Self.slice) {
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

    private func check(_ limit: inout ProgramTimeLimit, _ what: String) throws(Problem) {
        guard limit.isExceeded(processorTime: program.processorTime) || isCancelled() else { return }
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
            eventBytes += line.count
            guard eventBytes <= Self.mostEventBytes else {
                throw Problem("has printed more than \(Self.mostEventBytes >> 20) MiB of events for one block")
            }
            try add(event: value, name: name.string ?? "")
            return false
        }
        if let text = value["warning"]?.string {
            warning = text.onOneLine
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
        guard let declared = outputs.events[name] else {
            throw Problem("has printed the event \"\(String(name.prefix(60)).onOneLine)\", which it has not declared")
        }
        let time = try time(of: value)
        // An analyzer can also have an output of such a name whose records are of type `event`.
        switch outputs.readsHops && value["values"] != nil ? .analyzerEvent : declared {
        case .onset:
            events.append(Event(at: time, Onset(strength: try number(value, "strength", minimum: 0))))
        case .beat:
            let position = value["position"]?.integer
            events.append(
                Event(
                    at: time,
                    Beat(
                        beatsPerMinute: value["bpm"] == .null ? .nan : try number(value, "bpm", minimum: 0),
                        position: position.map { max(1, $0) },
                        confidence: min(1, try number(value, "confidence", minimum: 0)))))
        default:
            var numbers: [Double] = []
            for element in value["values"]?.elements ?? [] {
                guard let number = element == .null ? .nan : element.double else {
                    throw Problem("has printed an event whose \"values\" are not numbers")
                }
                numbers.append(number)
            }
            let duration = value["duration_s"] == nil || value["duration_s"] == .null ? nil : try number(value, "duration_s", minimum: 0)
            let label = value["label"]?.string ?? ""
            events.append(Event(at: time, AnalyzerEvent(output: name, duration: duration, values: numbers, label: label)))
        }
    }

    /// The time of an event in seconds of the stream.
    private func time(of event: JSONValue) throws(Problem) -> Double {
        if outputs.readsHops {
            guard let time = event["t"]?.double else { throw Problem("has sent an event without a time") }
            return time
        }
        guard let frame = event["frame"]?.integer, frame >= 0, Double(frame) <= Double(framesSent) + Self.longestAhead * sampleRate else {
            throw Problem("has printed an event without a \"frame\" that is 0 or more and not far in the future")
        }
        return format.seconds(at: frames.streamFrame(of: Int64(frame)))
    }

    private func number(_ value: JSONValue, _ key: String, minimum: Double) throws(Problem) -> Double {
        guard let number = value[key]?.double, number >= minimum else {
            throw Problem("has printed an event whose \"\(key)\" is no number of \(minimum) or more")
        }
        return number
    }
}

/// The frames of the stream for frames that the program has counted: blocks may be padded or lost, and audio too.
struct FrameMap {
    /// Where the blocks do not follow each other, in ascending order.
    private var places: [(program: Int64, stream: Int64)] = []
    private let blockFrames: Int64
    private var frames: Int64 = 0
    /// Places that are kept: events are not much older than the newest block.
    private static let capacity = 256

    init(blockFrames: Int) {
        self.blockFrames = Int64(blockFrames)
    }

    /// Notes the next block.
    mutating func append(blockAt frame: Int64) {
        if places.isEmpty || streamFrame(of: frames) != frame {
            if places.count == Self.capacity { places.removeFirst(Self.capacity / 2) }
            places.append((frames, frame))
        }
        frames += blockFrames
    }

    func streamFrame(of frame: Int64) -> Int64 {
        guard let place = places.last(where: { $0.program <= frame }) ?? places.first else { return frame }
        return max(0, place.stream + frame - place.program)
    }
}
