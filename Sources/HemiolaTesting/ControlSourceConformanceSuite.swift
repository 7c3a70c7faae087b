public import Hemiola
public import HemiolaVisualizer
internal import Synchronization

/// Checks the rules that every control source follows.
///
///     try ControlSourceConformanceSuite(.midi, settings: pipe) { keyboard.send([0x90, 39, 100]) }.run()
///
/// Checked are:
///
/// - the declaration: names and summaries
/// - it can be closed right after it was opened, and while it waits for messages, within a second (the suite allows 5 s), and opened again
/// - a closed source leaves neither descriptors nor threads behind
/// - messages become controls that the program declares, from the source's name; the first refusal of a control is reported, and no other
///
/// A ``/Hemiola/StreamFollower`` gets batches meanwhile.
public struct ControlSourceConformanceSuite {
    /// Leaks are told from what other tests open meanwhile by their number.
    private static let openings = 100
    /// Rounds of openings.
    private static let rounds = 5
    private static let longestClose = 5.0
    /// The descriptors and threads of the process are counted for one source at a time: another one may leak.
    private static let counting = Mutex<Void>(())

    private let plugin: ControlPlugin
    private let settings: () -> String
    private let catalog: RecordCatalog
    private let send: () -> Void
    /// Seconds until two messages must have become controls; long, because machines that run tests are busy.
    var patience = 60.0

    /// A suite for a control source with these settings.
    ///
    /// - Parameters:
    ///   - plugin: The plugin of the source.
    ///   - settings: The settings, in the syntax of a SPEC after the colon. Computed for each source that is made: a port can be another one
    ///     each time, and is not refused because a program that is started at that moment still holds the one that was closed.
    ///   - controls: The controls that the program declares.
    ///   - send: Sends a message of which the source makes a control, always the same one. Called repeatedly.
    public init(
        _ plugin: ControlPlugin, settings: @escaping @autoclosure () -> String = "", controls: [ControlType] = ControlType.presetControls,
        send: @escaping () -> Void
    ) {
        self.plugin = plugin
        self.settings = settings
        catalog = RecordCatalog(controls: controls)
        self.send = send
    }

    /// Runs all checks.
    ///
    /// - Throws: All rules that the source violates.
    public func run() throws(Problem) {
        var report = ConformanceReport()
        do {
            try Self.counting.withLock { _ throws(Problem) in try checkLeaks(&report) }
            if let source = try makeSource(&report) { try checkControls(source, &report) }
        } catch {
            report.fail("The control source fails: \(error).")
        }
        try report.throwIfFailed(plugin.about.id)
    }

    /// The name of the source in a pipeline.
    private var name: String { PluginSpec(plugin.about.id).controlName }

    /// A source; nil: its settings are wrong, which is reported.
    private func makeSource(_ report: inout ConformanceReport) throws(Problem) -> (any Sink)? {
        guard let values = report.settings(settings(), of: plugin.about) else { return nil }
        return try plugin.sink.make(values)
    }

    private func checkLeaks(_ report: inout ConformanceReport) throws(Problem) {
        // Other code of the process opens and closes descriptors meanwhile: up to half as many as a leak, and not in every round.
        var (leaksDescriptors, leaksThreads) = (true, true)
        for _ in 0..<Self.rounds where leaksDescriptors || leaksThreads {
            let (descriptors, threads) = (Self.count("fd"), Self.count("task"))
            // What a source holds is not given back because the source itself is.
            var sources: [any Sink] = []
            for _ in 0..<Self.openings {
                guard let source = try makeSource(&report) else { return }
                sources.append(source)
                try source.open(SinkContext(name: name, records: RecordChoice(catalog: catalog), timing: SinkTiming(isLive: true)))
                try close(source, &report)
            }
            leaksDescriptors = leaksDescriptors && Self.count("fd") >= descriptors + Self.openings / 2
            leaksThreads = leaksThreads && Self.count("task") >= threads + Self.openings / 2
            withExtendedLifetime(sources) {}
        }
        report.require(!leaksDescriptors, "A closed source leaves descriptors open.")
        report.require(!leaksThreads, "A closed source leaves threads behind.")
    }

    private func checkControls(_ source: any Sink, _ report: inout ConformanceReport) throws(Problem) {
        let received = Received()
        try source.open(received.context(name, catalog))
        // The source waits for messages, and is closed meanwhile.
        MonotonicTime.sleep(for: 0.05)
        try close(source, &report)

        try source.open(received.context(name, catalog))
        try source.begin(.test(isLive: true, catalog: catalog))
        let deadline = Deadline(after: patience)
        var number: Int64 = 0
        while received.repeated == nil, !deadline.hasPassed {
            send()
            try source.write(BatchBlock([CollectedBatch(number: number, frame: number * 1024, events: [])]))
            MonotonicTime.sleep(for: 1024 / 44_100)
            number += 1
        }
        try close(source, &report)
        guard let repeated = received.repeated else { return report.fail("No control is submitted twice, although messages are sent.") }
        for (control, origin) in received.controls {
            report.require(catalog.control(control.name) != nil, "The control \(control.name) is not declared by the program.")
            report.require(origin == name, "The origin of a control is \"\(origin)\" instead of \"\(name)\".")
        }
        let count = received.warnings.count { $0.contains(repeated) }
        report.require(count == 1, "The refusals of a control are reported \(count) times instead of once.")
    }

    private func close(_ source: any Sink, _ report: inout ConformanceReport) throws(Problem) {
        let deadline = Deadline(after: Self.longestClose)
        try source.close()
        report.require(!deadline.hasPassed, "close() blocks for longer than a second.")
    }

    /// The number of this process's descriptors (`fd`) or threads (`task`).
    private static func count(_ kind: String) -> Int {
        do { return try FileSystem.names(in: "/proc/self/\(kind)").count } catch { return 0 }
    }

    /// What a source submits and prints. Every control is refused.
    private final class Received: Sendable {
        private let state = Mutex<(controls: [(Control, origin: String)], warnings: [String])>(([], []))

        var controls: [(Control, origin: String)] { state.withLock { $0.controls } }
        var warnings: [String] { state.withLock { $0.warnings } }

        /// The name of a control that was submitted twice.
        var repeated: String? {
            let names = controls.map(\.0.name)
            return names.first { name in names.count { $0 == name } > 1 }
        }

        func context(_ name: String, _ catalog: RecordCatalog) -> SinkContext {
            SinkContext(
                name: name, records: RecordChoice(catalog: catalog), timing: SinkTiming(isLive: true),
                controls: ControlPort(
                    submit: { control, origin, reply in
                        self.state.withLock { $0.controls.append((control, origin)) }
                        reply?(.refused("not in this test"))
                    }, report: { _ in }),
                messages: SinkMessages(warn: { text in self.state.withLock { $0.warnings.append(text) } }))
        }
    }
}
