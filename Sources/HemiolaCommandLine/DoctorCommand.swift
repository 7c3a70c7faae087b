internal import ArgumentParser
internal import Hemiola
internal import HemiolaSignal

/// `hemiola doctor`
struct DoctorCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look whether everything that Hemiola needs is there, and tell the remedy.",
        usage: "hemiola doctor [--latency [--clicks <n>] [--batch <frames>]] [--json]",
        discussion: """
            Versions and libraries, formats, sound server, folders, terminal: ok or !! before each, and what to do about it below.

            With --latency it measures instead how long a sound takes from a player's write to the line that tells of it: it \
            adds an output of its own to the sound server, plays clicks there, and listens.

            Examples:
              hemiola doctor
              hemiola doctor --latency
              hemiola doctor --json
              hemiola doctor --latency --batch 256 --json | jq .median_ms
              hemiola doctor --json | jq -r '.checks[] | select(.ok | not) | .remedy'

            Exit codes: 0 all is well; 1 something is broken, or a click was not heard.
            """)

    @Flag(help: "Measure the time from sound to line, with clicks in an output of its own.")
    var latency = false

    @Option(help: ArgumentHelp("How many clicks: a fifth of a second each.", valueName: "number"))
    var clicks = 100

    @Option(help: ArgumentHelp("Frames per batch of what listens to them.", valueName: "frames"))
    var batch = Batching.defaultFrames

    @Flag(help: "As JSON.")
    var json = false

    func validate() throws {
        guard (1...10_000).contains(clicks) else { throw ValidationError("--clicks: \(clicks) is outside 1...10000") }
        guard Batching(batchFrames: batch) != nil else { throw ValidationError("--batch: \(batch) is no size of a batch") }
    }

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        if latency { return try measureLatency(with: registry) }
        var environment = System.environment()
        if let devices = registry.captures.lazy.compactMap(\.devices).first {
            environment.devices = Result { () throws(CaptureError) in try devices() }
        }
        let report = DoctorReport(environment)
        let status = try Root.print(json ? report.json.line : report.text)
        return report.isWell ? status : .inputFailed
    }

    private func measureLatency(with registry: PluginRegistry) throws(Failure) -> CommandStatus {
        // A signal takes the output away again before it ends the process.
        let listener = System.SignalListener()
        let report = try LatencyTest(clickCount: clicks, batchFrames: batch, isCancelled: { listener.signal != nil }).run(with: registry)
        let status = try Root.print(json ? report.json.line : report.text)
        if let signal = listener.signal { return .signal(signal) }
        return report.times.count == report.clickCount ? status : .inputFailed
    }
}
