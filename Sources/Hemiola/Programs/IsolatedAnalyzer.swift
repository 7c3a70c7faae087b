internal import Glibc
internal import HemiolaRecords
package import HemiolaSignal
package import HemiolaSystem
internal import Synchronization

/// An analyzer in a child process of this program, for one that may crash or hang, such as a plugin of another project.
///
/// The child makes the analyzer from the plugin's id and settings, gets every hop, and returns the values of the row and the events: they
/// are those of the analyzer in this process. The analyzer requests no spectra, and emits only records of type `event`.
package struct IsolatedAnalyzer: BlockProgram {
    /// The program that runs the child's side, ``IsolatedAnalyzerService``, and its arguments; nil: there is none.
    private static let service = Mutex<[String]?>(nil)

    private let plugin: String
    private let settings: SettingValues
    /// Seconds in which the child must answer or end.
    private let timeout: Double
    package let name: String
    package let policy: FailurePolicy
    package let remedy: String

    /// An analyzer in a child process; starts nothing.
    ///
    /// - Parameters:
    ///   - plugin: The id of the analyzer's plugin, which the program of the child has.
    ///   - settings: All settings of the plugin.
    ///   - name: The name in messages.
    ///   - timeout: Seconds in which the child must answer or end.
    ///   - policy: What happens when it fails.
    ///   - remedy: What the user can do when it fails, in words that follow the reason.
    package init(_ plugin: String, settings: SettingValues, name: String, timeout: Double, policy: FailurePolicy, remedy: String) {
        (self.plugin, self.settings, self.name) = (plugin, settings, name)
        (self.timeout, self.policy, self.remedy) = (timeout, policy, remedy)
    }

    /// Sets the program that runs ``IsolatedAnalyzerService``. The program `hemiola` sets itself. Without one, isolated analyzers are
    /// refused.
    ///
    /// - Parameters:
    ///   - path: The path of the program.
    ///   - arguments: The arguments with which it runs the service.
    package static func setService(_ path: String, _ arguments: [String]) {
        service.withLock { $0 = [path] + arguments }
    }

    package func check() throws(Problem) {
        guard Self.service.withLock({ $0 != nil }) else {
            throw Problem("\(name) cannot be isolated: this program has not set a service; leave out isolated=true")
        }
        do throws(Problem) {
            // The format is of no importance: nothing is prepared.
            let stream = AnalysisFormat(StreamFormat(sampleRate: 48_000, channelCount: 1))
            try IsolatedSession(start(stream, onlyChecks: true), self, stream, report: { _ in }, isCancelled: { false }).stop()
        } catch {
            throw Problem(error.isComplete ? error.message : "\(name): \(error.message); \(remedy)")
        }
    }

    /// Bytes before the samples of a block.
    static let headerSize = 24

    package func blockSize(_ stream: AnalysisFormat) -> Int {
        // The mono mix, and the channels where there are several.
        Self.headerSize + 4 * stream.hopFrames * (stream.channelCount == 1 ? 1 : 1 + stream.channelCount)
    }

    package func encode(_ hop: borrowing Hop, into block: inout [UInt8]) {
        func write(_ number: some FixedWidthInteger, at place: Int) {
            withUnsafeBytes(of: number.littleEndian) { block.replaceSubrange(place..<place + $0.count, with: $0) }
        }
        write(UInt32(block.count - 4), at: 0)
        write(UInt32(MessageKind.hop), at: 4)
        write(hop.frame, at: 8)
        write(UInt32(hop.frameCount), at: 16)
        write(UInt32(hop.indexInBatch), at: 20)
        let monoSize = 4 * hop.mono.count
        hop.mono.withUnsafeBufferPointer { block.encode($0, at: Self.headerSize) }
        if hop.format.channelCount > 1 { hop.samples.withUnsafeBufferPointer { block.encode($0, at: Self.headerSize + monoSize) } }
    }

    package func start(
        _ stream: AnalysisFormat, isLive: Bool, report: @escaping @Sendable (String) -> Void, isCancelled: @escaping () -> Bool
    ) throws(Problem) -> any BlockSession {
        try IsolatedSession(start(stream, onlyChecks: false), self, stream, report: report, isCancelled: isCancelled)
    }

    /// The first message.
    private func start(_ stream: AnalysisFormat, onlyChecks: Bool) -> [UInt8] {
        var message = MessageWriter(MessageKind.start)
        message.add(plugin)
        message.add(UInt32(settings.parameters.count))
        for parameter in settings.parameters {
            message.add(parameter.key)
            message.add(parameter.value)
        }
        message.add(UInt32(stream.sampleRate))
        message.add(UInt32(stream.channelCount))
        message.add(UInt32(stream.batching.batchFrames))
        message.add(stream.seed)
        message.add(onlyChecks)
        return message.finish()
    }

    /// Starts a child.
    fileprivate func run(report: @escaping @Sendable (String) -> Void) throws(Problem) -> RunningProgram {
        guard let command = Self.service.withLock({ $0 }) else { throw Problem("cannot be isolated in this program") }
        do throws(SystemCallError) {
            return try RunningProgram(.arguments(command), hasInput: true, output: .pipe, report: report)
        } catch {
            throw Problem("cannot be started in a process of its own (\(error))")
        }
    }

    fileprivate var timeLimit: Double { timeout }
}

/// The kinds of messages.
enum MessageKind {
    /// To the child: the analyzer and the stream; a hop.
    static let start = UInt8(ascii: "S")
    static let hop = UInt8(ascii: "H")
    /// From the child: the outputs; the values and events of a hop; the last events; why it refuses the stream.
    static let outputs = UInt8(ascii: "O")
    static let answer = UInt8(ascii: "A")
    static let end = UInt8(ascii: "E")
    static let refusal = UInt8(ascii: "R")
}

/// The conversation with a child process that runs ``IsolatedAnalyzerService``.
private final class IsolatedSession: BlockSession {
    private let analyzer: IsolatedAnalyzer
    private let program: RunningProgram
    private let isCancelled: () -> Bool
    private(set) var declared = AnalyzerOutputs()
    private(set) var values: [Float] = []
    private(set) var warning: String?
    private var events: [Event] = []
    private var buffer: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: 1 << 16)

    /// Seconds of a wait, after which `isCancelled` is called.
    private static let slice = 0.1

    init(
        _ start: [UInt8], _ analyzer: IsolatedAnalyzer, _ stream: AnalysisFormat, report: @escaping @Sendable (String) -> Void,
        isCancelled: @escaping () -> Bool
    ) throws(Problem) {
        self.analyzer = analyzer
        self.isCancelled = isCancelled
        program = try analyzer.run(report: report)
        let deadline = MonotonicTime.now + analyzer.timeLimit
        try write(start, until: deadline)
        var message = try readMessage(MessageKind.outputs, until: deadline)
        declared = try message.outputs()
        values = [Float](repeating: .nan, count: declared.width)
    }

    func exchange(_ block: [UInt8], at frame: Int64) throws(Problem) {
        let deadline = MonotonicTime.now + analyzer.timeLimit
        try write(block, until: deadline)
        var message = try readMessage(MessageKind.answer, until: deadline)
        try message.floats(into: &values)
        events += try message.events()
        program.reportLines()
    }

    func takeEvents() -> [Event] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    func finish() throws(Problem) {
        program.closeInput()
        let deadline = MonotonicTime.now + analyzer.timeLimit
        var message = try readMessage(MessageKind.end, until: deadline)
        events += try message.events()
        let text = try message.text()
        warning = text.isEmpty ? nil : text
        guard program.end(within: max(0.1, deadline - MonotonicTime.now)) else {
            throw Problem("has not ended after the end of its input, and was ended")
        }
        if program.exit?.isSuccess == false { throw Problem(program.reasonForEnd) }
    }

    func stop() { program.stop() }

    // MARK: - Transfer

    private func write(_ bytes: [UInt8], until deadline: Double) throws(Problem) {
        var sent = 0
        while sent < bytes.count {
            let wait = max(0.001, min(Self.slice, deadline - MonotonicTime.now))
            switch bytes.withUnsafeBytes({ program.write(UnsafeRawBufferPointer(rebasing: $0[sent...]), within: wait) }) {
            case .bytes(let count): sent += count
            case .closed: throw ended()
            case .timeout: try check(deadline)
            }
        }
    }

    /// Reads the next message, which must be of a kind.
    private func readMessage(_ kind: UInt8, until deadline: Double) throws(Problem) -> MessageReader {
        while true {
            if buffer.count >= 5 {
                let count = buffer[..<4].enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }
                guard (1...MessageReader.longestMessage).contains(count) else { throw Problem("has sent a message of \(count) bytes") }
                if buffer.count >= 4 + count {
                    var message = MessageReader(Array(buffer[4..<4 + count]))
                    buffer.removeSubrange(..<(4 + count))
                    if message.kind == MessageKind.refusal {
                        let text = try message.text()
                        program.stop()
                        throw .complete(text.onOneLine)
                    }
                    guard message.kind == kind else { throw Problem("has sent a message that was not expected") }
                    return message
                }
            }
            let wait = max(0.001, min(Self.slice, deadline - MonotonicTime.now))
            switch chunk.withUnsafeMutableBytes({ program.read(into: $0, within: wait) }) {
            case .bytes(let count): buffer += chunk[..<count]
            case .end: throw ended()
            case .timeout: try check(deadline)
            }
        }
    }

    private func check(_ deadline: Double) throws(Problem) {
        guard MonotonicTime.now > deadline || isCancelled() else { return }
        program.stop()
        throw Problem("has not answered for \(analyzer.timeLimit.rounded(toPlaces: 1)) s, and was ended")
    }

    private func ended() -> Problem {
        if !program.waitForExit(within: 0.5) { program.stop() }
        return Problem(program.exit?.isSuccess == true ? "ended before the stream" : program.reasonForEnd)
    }
}
