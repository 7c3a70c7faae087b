import Foundation
import HemiolaSystem
import Synchronization

extension SoundServer {
    /// Runs pactl.
    ///
    /// - Returns: Its output without leading and trailing white space.
    @discardableResult
    public func control(_ arguments: String...) throws -> String {
        let outcome = try run("pactl", arguments)
        guard outcome.status == 0 else {
            throw Failure(description: "pactl \(arguments.joined(separator: " ")): \(outcome.errors)")
        }
        return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Adds a sink.
    public func load(_ sink: Sink) throws {
        modules[sink.name] = try control("load-module", "module-null-sink", Self.arguments(sink, kind))
        // PipeWire replies before the sink exists.
        try wait(5, for: "the sink \(sink.name)") { try self.sinkNames.contains(sink.name) }
    }

    /// Removes a sink.
    public func unload(_ name: String) throws {
        guard let module = try modules.removeValue(forKey: name) ?? listedModule(of: name) else {
            throw Failure(description: "no sink \(name)")
        }
        try control("unload-module", module)
        try wait(5, for: "the removal of \(name)") { try !self.sinkNames.contains(name) }
    }

    /// The module of a sink that was loaded with the start of the server.
    private func listedModule(of sink: String) throws -> String? {
        let lines = try control("list", "short", "modules").split(separator: "\n")
        return lines.first { $0.contains("sink_name=\(sink) ") }?.split(separator: "\t").first.map(String.init)
    }

    /// Makes a sink the default and waits until it is.
    public func setDefault(_ name: String) throws {
        // PipeWire replies before its session manager has changed the default, and the session manager may ignore a request while it starts.
        try wait(5, for: "\(name) to be the default") {
            try self.control("set-default-sink", name)
            return try self.control("get-default-sink") == name
        }
    }

    public func suspend(_ name: String, _ isSuspended: Bool) throws {
        try control("suspend-sink", name, isSuspended ? "1" : "0")
    }

    public var sinkNames: [String] {
        get throws {
            try control("list", "short", "sinks").split(separator: "\n").compactMap { line in
                let columns = line.split(separator: "\t")
                return columns.count > 1 ? String(columns[1]) : nil
            }
        }
    }

    /// Plays two sines with an amplitude of 0.5 until the returned object is deinitialized.
    ///
    /// - Parameters:
    ///   - left: Frequency in hertz.
    ///   - right: Frequency in hertz.
    ///   - application: The application name of the player.
    public func play(
        left: Double, right: Double, on sink: String, as application: String = "player", seconds: Double = 20, sampleRate: Int = 44_100
    ) throws -> ChildProcess {
        var samples: [Float] = []
        for frame in 0..<Int(seconds * Double(sampleRate)) {
            for hertz in [left, right] {
                let turns = Double(frame) * hertz / Double(sampleRate)
                samples.append(Float(0.5 * sin(2 * Double.pi * (turns - turns.rounded(.down)))))
            }
        }
        let bytes = samples.withUnsafeBytes { Array($0) }
        let url = URL(fileURLWithPath: file(named: "\(application)-\(UUID().uuidString).raw"))
        try Data(bytes).write(to: url)
        return try play(url.path, on: sink, as: application, sampleRate: sampleRate)
    }

    /// Plays a file of 32-bit float samples, stereo, until the returned object is deinitialized.
    public func play(_ path: String, on sink: String, as application: String, sampleRate: Int = 44_100) throws -> ChildProcess {
        let arguments = [
            "--playback", "--device=\(sink)", "--raw", "--format=float32le", "--rate=\(sampleRate)", "--channels=2", "--latency-msec=100",
            "--client-name=\(application)", "--property=application.name=\(application)", path,
        ]
        return try ChildProcess(try self.path(of: "pacat"), arguments, environment: environment)
    }

    /// Records a source as 32-bit float samples, stereo, until the returned object is deinitialized.
    public func record(_ source: String, to path: String, sampleRate: Int = 44_100) throws -> ChildProcess {
        let arguments = [
            "--record", "--device=\(source)", "--raw", "--format=float32le", "--rate=\(sampleRate)", "--channels=2", "--latency-msec=20",
            "--client-name=recorder", path,
        ]
        return try ChildProcess(try self.path(of: "pacat"), arguments, environment: environment)
    }

    /// Adds a source that reads 32-bit float samples, stereo at 44.1 kHz, from a named pipe. PulseAudio only.
    public func loadPipeSource(_ name: String) throws -> PipeSource {
        let path = file(named: "\(name).fifo")
        try control(
            "load-module", "module-pipe-source", "source_name=\(name)", "file=\(path)", "format=float32le", "rate=44100", "channels=2")
        let descriptor = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(description: "\(path) cannot be opened: \(String(cString: strerror(errno)))") }
        return try PipeSource(descriptor: descriptor)
    }

    /// The writing end of the named pipe of a source.
    public final class PipeSource: Sendable {
        private enum Flow { case stopped, running, ended }

        private final class State: Sendable {
            let flow = Mutex(Flow.stopped)
            let change: WakeUp

            init() throws { change = try WakeUp() }

            func set(_ new: Flow) {
                flow.withLock { $0 = new }
                change.signal()
            }
        }

        private let state: State

        /// Takes over the descriptor of the named pipe.
        init(descriptor: Int32) throws {
            let state = try State()
            self.state = state
            // A thread and not a task: tasks are delayed by others when the machine is busy.
            try startThread(for: "a test") {
                var last = MonotonicTime.now
                while true {
                    let flow = state.flow.withLock { $0 }
                    if flow == .ended { break }
                    let now = MonotonicTime.now
                    // Bytes that exceed the capacity of the pipe are dropped.
                    let bytes = [UInt8](repeating: 0, count: flow == .running ? Int((now - last) * 44_100) * 8 : 0)
                    if !bytes.isEmpty { _ = write(descriptor, bytes, bytes.count) }
                    last = now
                    // A device delivers sound in real time: the next 10 ms of it, or nothing until the flow changes.
                    state.change.wait(seconds: flow == .running ? 0.01 : nil)
                }
                close(descriptor)
            }
        }

        deinit { state.set(.ended) }

        /// Starts or stops writing silence at the sample rate. While it is stopped, the source delivers no data.
        public func flow(_ isFlowing: Bool) {
            state.set(isFlowing ? .running : .stopped)
        }
    }
}
