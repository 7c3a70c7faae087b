import Foundation
import Synchronization

extension SoundServer {
    /// Tells it something with pactl.
    ///
    /// - Returns: Its answer.
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
        // PipeWire answers before it is there.
        try wait(5, for: "the sink \(sink.name)") { try self.sinkNames.contains(sink.name) }
    }

    /// Takes a sink away.
    public func unload(_ name: String) throws {
        guard let module = try modules.removeValue(forKey: name) ?? listedModule(of: name) else {
            throw Failure(description: "no sink \(name)")
        }
        try control("unload-module", module)
        try wait(5, for: "\(name) to go") { try !self.sinkNames.contains(name) }
    }

    /// One that was loaded as the server started.
    private func listedModule(of sink: String) throws -> String? {
        let lines = try control("list", "short", "modules").split(separator: "\n")
        return lines.first { $0.contains("sink_name=\(sink) ") }?.split(separator: "\t").first.map(String.init)
    }

    public func setDefault(_ name: String) throws {
        try control("set-default-sink", name)
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

    /// Plays two sines of half the full scale for as long as the returned object lives.
    ///
    /// - Parameters:
    ///   - left: In hertz.
    ///   - right: In hertz.
    ///   - application: What the player says it is.
    public func play(
        left: Double, right: Double, on sink: String, as application: String = "player", seconds: Double = 20
    ) throws -> ChildProcess {
        let rate = 44_100.0
        var samples: [Float] = []
        for frame in 0..<Int(seconds * rate) {
            for hertz in [left, right] {
                let turns = Double(frame) * hertz / rate
                samples.append(Float(0.5 * sin(2 * Double.pi * (turns - turns.rounded(.down)))))
            }
        }
        let bytes = samples.withUnsafeBytes { Array($0) }
        let url = URL(fileURLWithPath: file(named: "\(application)-\(UUID().uuidString).raw"))
        try Data(bytes).write(to: url)
        return try play(url.path, on: sink, as: application)
    }

    /// Plays stereo samples at 44.1 kHz, as 32-bit floats in a file, for as long as the returned object lives.
    public func play(_ path: String, on sink: String, as application: String) throws -> ChildProcess {
        let arguments = [
            "--playback", "--device=\(sink)", "--raw", "--format=float32le", "--rate=44100", "--channels=2", "--latency-msec=100",
            "--client-name=\(application)", "--property=application.name=\(application)", path,
        ]
        return try ChildProcess(try self.path(of: "pacat"), arguments, environment: environment)
    }

    /// Records what a source has as bare 32-bit floats, stereo at 44.1 kHz, for as long as the returned object lives.
    public func record(_ source: String, to path: String) throws -> ChildProcess {
        let arguments = [
            "--record", "--device=\(source)", "--raw", "--format=float32le", "--rate=44100", "--channels=2", "--latency-msec=20",
            "--client-name=recorder", path,
        ]
        return try ChildProcess(try self.path(of: "pacat"), arguments, environment: environment)
    }

    /// Adds a source that delivers what is written to a named pipe, stereo 32-bit floats at 44.1 kHz. PulseAudio only.
    public func loadPipeSource(_ name: String) throws -> PipeSource {
        let path = file(named: "\(name).fifo")
        try control(
            "load-module", "module-pipe-source", "source_name=\(name)", "file=\(path)", "format=float32le", "rate=44100", "channels=2")
        let descriptor = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(description: "\(path) cannot be opened: \(String(cString: strerror(errno)))") }
        return PipeSource(descriptor: descriptor)
    }

    /// The writing end of a source that `loadPipeSource` made.
    public final class PipeSource: Sendable {
        private let isFlowing = Atomic(false)

        /// Takes over the descriptor of the named pipe.
        init(descriptor: Int32) {
            // A thread of its own: tasks wait for each other when the machine is busy.
            let thread = Thread { [weak self] in
                var last = ProcessInfo.processInfo.systemUptime
                while let isFlowing = self?.isFlowing.load(ordering: .relaxed) {
                    let now = ProcessInfo.processInfo.systemUptime
                    // What does not fit into the pipe is left out.
                    let bytes = [UInt8](repeating: 0, count: isFlowing ? Int((now - last) * 44_100) * 8 : 0)
                    if !bytes.isEmpty { _ = write(descriptor, bytes, bytes.count) }
                    last = now
                    usleep(10_000)
                }
                close(descriptor)
            }
            thread.start()
        }

        /// Starts or stops to write silence at its own pace. While it is stopped, the source delivers nothing.
        public func flow(_ isFlowing: Bool) {
            self.isFlowing.store(isFlowing, ordering: .relaxed)
        }
    }
}
