internal import ArgumentParser
internal import Hemiola

/// `hemiola doctor`
struct DoctorCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check libraries, sound server and permissions, and suggest fixes.",
        usage: """
            hemiola doctor [--latency [--clicks <n>] [--batch <frames>]] [--json]
            hemiola doctor --lead <sink> [--clicks <n>]
            """,
        discussion: """
            Checks versions, libraries, file formats, sound server, folders, defaults file and terminal. Each line begins with ok or !!; the \
            suggested fix is on the next line.

            --latency measures instead the time from a player's write to the output line of "hemiola listen". It adds a \
            temporary output to the sound server and plays clicks there; nothing is played on the speakers.

            --lead plays clicks on the default output, captures them as "hemiola listen" does, and sends the beats to a sink, so that you \
            compare the sound with the lights or pictures, and find the sink's lead_ms and delay_ms.

            Examples:
              hemiola doctor
              hemiola doctor --latency
              hemiola doctor --latency --batch 256 --json | jq .median_ms
              hemiola doctor --lead osc:192.168.1.20:9000,lead_ms=40
              hemiola doctor --json | jq -r '.checks[] | select(.ok | not) | .remedy'

            Exit codes: 0 all checks passed; 1 a check failed, or a click or a beat was not detected.
            """)

    @Flag(help: "Measure the latency from a player to the output line.")
    var latency = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Number of clicks, 1...10000. --latency plays 100 by default, each about 0.2 s; --lead plays until Ctrl-C, each 0.5 s.",
            valueName: "number"))
    var clicks: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Frames per batch for --latency. Default: 1024.", valueName: "frames"))
    var batch: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Play clicks and send their beats to this sink, a SPEC. You compare what you hear with what you see.", valueName: "sink"))
    var lead: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if lead != nil {
            if latency || batch != nil || json { throw ValidationError("--lead can be combined with --clicks only") }
        } else if !latency, let option = clicks != nil ? "--clicks" : batch != nil ? "--batch" : nil {
            throw ValidationError("\(option) needs --latency, the measurement that it belongs to")
        }
        if let clicks, !(1...10_000).contains(clicks) { throw ValidationError("--clicks: \(clicks) is outside 1...10000") }
        if let batch, Batching(batchFrames: batch) == nil {
            throw ValidationError("--batch: \(batch) is not a valid batch size; use 256...8192, above 1024 a multiple of 256")
        }
    }

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        if latency { return try measureLatency(with: registry) }
        if let lead { return try align(lead, with: registry) }
        var environment = Environment.current(registry)
        environment.defaults = DefaultsFile.state(registry)
        if let devices = registry.captures.lazy.compactMap(\.devices).first {
            environment.devices = Result { () throws(Problem) in try devices() }
        }
        let report = DoctorReport(environment)
        let status = try Root.print(json ? report.json.line : report.text)
        return report.isOK ? status : .inputFailed
    }

    private func align(_ sink: String, with registry: PluginRegistry) throws(Failure) -> CommandStatus {
        // On a signal, the player and the capture are ended before the process.
        let listener = SignalListener()
        let test = LeadTest(sink: sink, clickCount: clicks, isCancelled: { listener.signal != nil })
        var status = CommandStatus.success
        let beats = try test.run(with: registry) { text in status = (try? Root.print(text)) ?? .outputFailed }
        if let signal = listener.signal { return .signal(signal) }
        return beats == 0 ? .inputFailed : status
    }

    private func measureLatency(with registry: PluginRegistry) throws(Failure) -> CommandStatus {
        // On a signal, the temporary output is removed before the process ends.
        let listener = SignalListener()
        let test = LatencyTest(
            clickCount: clicks ?? 100, batchFrames: batch ?? Batching.defaultFrames, isCancelled: { listener.signal != nil })
        let report = try test.run(with: registry)
        let status = try Root.print(json ? report.json.line : report.text)
        if let signal = listener.signal { return .signal(signal) }
        return report.times.count == report.clickCount ? status : .inputFailed
    }
}
