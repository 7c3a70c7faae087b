public import Hemiola

/// Checks the rules that every sink follows.
///
///     try SinkConformanceSuite(.jsonLines, settings: "/tmp/test.jsonl").run()
///
/// The sink gets empty and full streams of three formats, live and from files, with and without samples, everything selected and a
/// part; with rows without values, text that needs escaping, and events of every type. Checked are:
///
/// - the declaration: names, summaries, needs that are equal for equal settings
/// - no method throws; the sink can be closed right after it was opened and in the middle of a stream, and opened again afterwards
/// - the director of a `DirectingSink`: the rules of ``DirectorConformanceSuite``
///
/// The suite does not check whether the output is right; that is for the sink's own tests.
public struct SinkConformanceSuite: Sendable {
    private let plugin: SinkPlugin
    private let settings: String

    /// A suite for a sink with these settings.
    ///
    /// - Parameters:
    ///   - plugin: The sink's plugin.
    ///   - settings: The settings, in the syntax of a SPEC after the colon: `/tmp/out.jsonl`.
    public init(_ plugin: SinkPlugin, settings: String = "") {
        self.plugin = plugin
        self.settings = settings
    }

    /// Runs all checks.
    ///
    /// - Throws: All rules that the sink violates.
    public func run() throws(Problem) {
        var report = ConformanceReport()
        if let values = report.settings(settings, of: plugin.about) {
            let needs = plugin.needs(values)
            report.require(plugin.needs(values) == needs, "The needs differ for equal settings.")
            for spec in needs.analyzers {
                report.require(!spec.id.isEmpty, "A needed analyzer has no id.")
            }
            // A sink that was never opened is not closed.
            let sink = plugin.make(values, &report)
            // A batch has samples as soon as any sink of the pipeline needs them.
            for hasSamples in needs.samples ? [true] : [false, true] {
                for isLive in [false, true] {
                    writeStreams(values, isLive: isLive, hasSamples: hasSamples, &report)
                }
            }
            interrupt(values, hasSamples: needs.samples, &report)
            if sink is any DirectingSink {
                DirectorConformanceSuite(plugin, settings: settings).check(values, &report)
            }
        }
        try report.throwIfFailed(plugin.about.id)
    }

    /// Writes an empty stream, then three full ones, with everything and with a part selected.
    private func writeStreams(
        _ values: SettingValues, isLive: Bool, hasSamples: Bool, _ report: inout ConformanceReport
    ) {
        let catalog = RecordCatalog.sample(with: plugin.about)
        for selection in [Selection.all, Selection(items: ["beat", "sample.level"], catalog: catalog)] {
            guard let sink = plugin.make(values, &report) else { return }
            let context = SinkContext(
                name: plugin.about.id, records: RecordChoice(catalog: catalog, selection: selection), timing: SinkTiming(isLive: isLive))
            do {
                try sink.open(context)
                let empty = SampleStream.empty(isLive: isLive, catalog: catalog)
                try sink.begin(empty.header)
                try sink.end(empty.summary)
                for stream in SampleStream.all(isLive: isLive, hasSamples: hasSamples, catalog: catalog) {
                    try sink.begin(stream.header)
                    for block in stream.blocks {
                        try sink.write(block)
                        let events = SampleStream.eventsBetween(after: block, in: stream.header)
                            .filter { selection.contains($0.type.name) }
                        if !events.isEmpty { try sink.write(events) }
                    }
                    try sink.end(stream.summary)
                }
                try sink.close()
            } catch {
                let place = "\(isLive ? "live" : "from a file"), \(hasSamples ? "with" : "without") samples"
                report.fail("The sink fails \(place): \(error).")
            }
        }
    }

    /// Closes the sink without a stream and within a stream, and opens it again, as the remedy `reopen` does.
    private func interrupt(_ values: SettingValues, hasSamples: Bool, _ report: inout ConformanceReport) {
        guard let sink = plugin.make(values, &report) else { return }
        let catalog = RecordCatalog.sample(with: plugin.about)
        let stream = SampleStream.all(isLive: false, hasSamples: hasSamples, catalog: catalog)[0]
        let context = SinkContext(name: plugin.about.id, records: RecordChoice(catalog: catalog))
        do {
            try sink.open(context)
            try sink.close()
        } catch {
            report.fail("The sink cannot be closed right after it was opened: \(error).")
            return
        }
        do {
            try sink.open(context)
            try sink.begin(stream.header)
            try sink.write(stream.blocks[0])
            try sink.close()
        } catch {
            report.fail("The sink cannot be closed in the middle of a stream: \(error).")
            return
        }
        do {
            try sink.open(context)
            try sink.begin(stream.header)
            for block in stream.blocks { try sink.write(block) }
            try sink.end(stream.summary)
            try sink.close()
        } catch {
            report.fail("The sink cannot be opened again after it was closed: \(error).")
        }
    }
}

/// Checks the rules that the director of every `DirectingSink` follows.
///
///     try DirectorConformanceSuite(.presets, settings: "/dev/null,names=a+b").run()
///
/// The director processes three streams with events of every type, gaps, and controls. Checked are:
///
/// - no event of the analyzers is removed or changed
/// - emitted events: finite times; record types that the plugin declares, or `onset` and `beat`; values of the declared types and ranges
/// - every declared control is handled, with values within the declared ranges; a refusal states its reason; any
///   other control is refused
/// - equal input gives equal output, for a director of another instance of the sink
public struct DirectorConformanceSuite: Sendable {
    private let plugin: SinkPlugin
    private let settings: String

    /// A suite for the director of a sink with these settings.
    ///
    /// - Parameters:
    ///   - plugin: The plugin of the sink that makes the director.
    ///   - settings: The settings, in the syntax of a SPEC after the colon.
    public init(_ plugin: SinkPlugin, settings: String = "") {
        self.plugin = plugin
        self.settings = settings
    }

    /// Runs all checks.
    ///
    /// - Throws: All rules that the director violates.
    public func run() throws(Problem) {
        var report = ConformanceReport()
        if let values = report.settings(settings, of: plugin.about) { check(values, &report) }
        try report.throwIfFailed(plugin.about.id)
    }

    func check(_ values: SettingValues, _ report: inout ConformanceReport) {
        var outputs: [[String]] = []
        for _ in 0..<2 {
            guard let sink = plugin.make(values, &report) else { return }
            guard let sink = sink as? any DirectingSink else { return report.fail("The sink is not a DirectingSink.") }
            do {
                try sink.open(SinkContext(name: plugin.about.id, records: RecordChoice(catalog: .sample(with: plugin.about))))
                outputs.append(process(try sink.makeDirector(), &report))
                try sink.close()
            } catch {
                return report.fail("The sink fails to make its director: \(error).")
            }
        }
        report.require(outputs[0] == outputs[1], "Two directors emit different events for equal input.")
    }

    /// - Returns: The descriptions of the emitted events.
    private func process(_ director: any Director, _ report: inout ConformanceReport) -> [String] {
        let types = plugin.about.controls + plugin.about.fallbackControls
        report.require(
            types.isEmpty || director is any ControlHandler, "The plugin declares controls, and the director is not a ControlHandler.")
        var controls = types.flatMap(Control.samples)[...]
        var output: [String] = []
        for stream in SampleStream.all(isLive: false, hasSamples: false, catalog: .sample(with: plugin.about)) {
            director.prepare(stream.header)
            director.skip(Gap(frames: 100, reason: .overrun))
            if controls.isEmpty { controls = types.flatMap(Control.samples)[...] }
            for block in stream.blocks {
                for index in 0..<block.count {
                    let batch = block[index]
                    if let control = controls.popFirst() {
                        handle(StampedControl(control, at: batch.frame, from: "test"), by: director, &report)
                    }
                    var values = batch.row.withUnsafeBufferPointer { Array($0) }
                    var events = EventList()
                    for place in batch.events.indices { events.append(batch.events[place]) }
                    let given = events.events.map(\.description)
                    let moment = BatchMoment(
                        number: batch.number, frame: batch.frame, frameCount: batch.frameCount, format: stream.header.format)
                    director.direct(moment, FeatureRow(values.mutableSpan), into: &events)
                    report.require(
                        events.events.prefix(given.count).map(\.description) == given,
                        "The director removes or changes events of the analyzers.")
                    for event in events.events.dropFirst(given.count) {
                        output.append(event.description)
                        guard event.type == .onset || event.type == .beat || plugin.about.records.contains(event.type) else {
                            report.fail("The director emits a record of type \(event.type.name), which its plugin does not declare.")
                            continue
                        }
                        report.check(event, "of the director")
                    }
                }
            }
        }
        if let handler = director as? any ControlHandler { report.checkControls(types, of: handler, "The director") }
        return output
    }

    /// Passes a control to the director as the engine does: with a preparation where the director has a preparer.
    private func handle(_ control: StampedControl, by director: any Director, _ report: inout ConformanceReport) {
        guard let handler = director as? any ControlHandler else { return }
        let reply: ControlReply
        if let prepared = director as? any PreparedDirector, prepared.preparer.isNeeded(for: control.control) {
            reply = prepared.handle(control, preparation: prepared.preparer.prepare(control.control, from: control.origin))
        } else {
            reply = handler.handle(control)
        }
        if case .refused(let reason) = reply {
            report.require(!reason.isEmpty, "The director refuses the control \(control.control.name) without a reason.")
        }
    }
}

extension SinkPlugin {
    fileprivate func make(_ values: SettingValues, _ report: inout ConformanceReport) -> (any Sink)? {
        do {
            return try make(values)
        } catch {
            report.fail("The sink cannot be made with the settings of the suite: \(error).")
            return nil
        }
    }
}
