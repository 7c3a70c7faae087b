public import Hemiola
internal import HemiolaOutput
internal import HemiolaSignal

extension PluginRegistry {
    /// Settings that the pipeline takes from every sink's SPEC.
    private static let select = Setting(
        "select", default: [String](), "Record types, analyzers or features that it gets; unset: all.")
    private static let lead = Setting<Double?>(
        "lead_ms", in: -60_000.0...60_000, unit: "ms",
        "Events come that far ahead of (negative: behind) their time; unset: as soon as they are known.")

    /// Files at a time: each has a thread and some 10 MB.
    private static let jobCounts = 1...256

    /// What every sink takes besides its own settings.
    public static let commonSinkSettings = [select.declared, lead.declared]

    /// Builds a pipeline and touches nothing: plugins are made, not opened.
    ///
    /// - Throws: All that is wrong with the configuration, at once, each problem with its path (`sinks[1].period_s`).
    public func assemble(_ configuration: PipelineConfiguration) throws(ConfigurationError) -> Pipeline {
        var problems: [ConfigurationProblem] = []
        let batching = Batching(batchFrames: configuration.batchFrames)
        if batching == nil {
            problems.append(ConfigurationProblem("batch", Self.batchFault(configuration.batchFrames)))
        }
        if let rate = configuration.sampleRate, rate != 0, !StreamFormat.sampleRates.contains(rate) {
            let range = StreamFormat.sampleRates
            problems.append(
                ConfigurationProblem("rate", "\(rate) is outside \(range.lowerBound)...\(range.upperBound) Hz"))
        }
        if let seed = configuration.seed, seed > Pipeline.largestSeed {
            problems.append(ConfigurationProblem("seed", "\(seed) is above \(Pipeline.largestSeed)"))
        }
        if !Self.jobCounts.contains(configuration.jobCount) {
            let (fewest, most) = (Self.jobCounts.lowerBound, Self.jobCounts.upperBound)
            problems.append(ConfigurationProblem("jobs", "\(configuration.jobCount) is outside \(fewest)...\(most) files at a time"))
        }
        let inputs = assembleInputs(configuration, &problems)
        let outlets = assembleOutlets(configuration, &problems)
        let parts = assembleParts(configuration, required: outlets.flatMap(\.outlet.needs.analyzers), &problems)
        checkStandardOutput(outlets.map(\.outlet), &problems)
        checkOutputs(outlets, inputs: inputs, &problems)
        guard problems.isEmpty, let batching else { throw ConfigurationError(problems) }
        let pipeline = Pipeline(configuration, batching: batching, inputs: inputs, parts: parts, outlets: outlets.map(\.outlet))
        try checkSelections(of: pipeline)
        return pipeline
    }

    private static func batchFault(_ frames: Int) -> String {
        let (range, step) = (Batching.frameCounts, Batching.largeBatchStep)
        guard range.contains(frames) else {
            return "\(frames) is outside \(range.lowerBound)...\(range.upperBound) frames"
        }
        let below = frames / step * step
        return "\(frames) is above \(Batching.longestHop) and no multiple of \(step) frames; take \(below) or \(below + step)"
    }

    // MARK: - Inputs

    private func assembleInputs(
        _ configuration: PipelineConfiguration, _ problems: inout [ConfigurationProblem]
    ) -> [Pipeline.Input] {
        var inputs: [Pipeline.Input] = []
        for (index, spec) in configuration.captures.enumerated() {
            let path = "captures[\(index)]"
            guard let plugin = found(spec.id, in: captures, role: "capture", path, &problems),
                let values = plugin.about.values(from: spec, path: path, problems: &problems)
            else { continue }
            let make = plugin.make
            do throws(ConfigurationError) {
                let capture = try make(values)
                if capture.isLive && configuration.captures.count > 1 {
                    problems.append(ConfigurationProblem(path, "\(spec.id) never ends, so it must be the only capture"))
                }
                inputs.append(
                    Pipeline.Input(name: spec.primary.map { PathText.shown($0.text) } ?? spec.name, path: spec.primary?.text) {
                        () throws(ConfigurationError) in
                        try make(values)
                    })
            } catch {
                problems += error.problems.map { $0.below(path) }
            }
        }
        if configuration.captures.isEmpty {
            problems.append(ConfigurationProblem("captures", "there is nothing to analyse; name a capture"))
        }
        return inputs
    }

    // MARK: - Analyzers

    private func assembleParts(
        _ configuration: PipelineConfiguration, required: [PluginSpec], _ problems: inout [ConfigurationProblem]
    ) -> [Pipeline.Part] {
        var parts: [Pipeline.Part] = []
        for (index, spec) in configuration.analyzers.enumerated() {
            let path = "analyzers[\(index)]"
            guard let part = part(spec, path, &problems) else { continue }
            if parts.contains(where: { $0.name == spec.name }) {
                problems.append(ConfigurationProblem(path, "there are two analyzers \"\(spec.name)\"; name one with as=NAME"))
                continue
            }
            parts.append(part)
        }
        for spec in required {
            guard let part = part(spec, "analyzers", &problems) else { continue }
            guard let present = parts.first(where: { $0.name == spec.name }) else {
                parts.append(part)
                continue
            }
            guard present.about.id == part.about.id else {
                let clash = "a sink needs the analyzer \(part.about.id) as \"\(spec.name)\"; give \(present.about.id) another name"
                problems.append(ConfigurationProblem("analyzers", clash))
                continue
            }
            for key in spec.settings.keys.sorted() where present.settings.value(key) != part.settings.value(key) {
                let value = part.settings.value(key)?.text ?? ""
                let clash = "a sink needs \(spec.name) with \(key)=\(value); name your own one with as=NAME"
                problems.append(ConfigurationProblem("analyzers", clash))
            }
        }
        return parts
    }

    private func part(_ spec: PluginSpec, _ path: String, _ problems: inout [ConfigurationProblem]) -> Pipeline.Part? {
        guard let plugin = found(spec.id, in: analyzers, role: "analyzer", path, &problems),
            let values = plugin.about.values(from: spec, path: path, problems: &problems)
        else { return nil }
        guard Self.isUsable(spec.name) else {
            problems.append(
                ConfigurationProblem(
                    path,
                    "\"\(spec.name)\" cannot be an analyzer's name: "
                        + (Selection.reservedNames.contains(spec.name)
                            ? "the records use it for something else" : "letters, digits, - and _ make a name")))
            return nil
        }
        let make = plugin.make
        do throws(ConfigurationError) {
            _ = try make(values)
        } catch {
            problems += error.problems.map { $0.below(path) }
            return nil
        }
        return Pipeline.Part(name: spec.name, about: plugin.about, settings: values) { () throws(ConfigurationError) in
            try make(values)
        }
    }

    /// A name is a key in every batch record: it must be one that `jq` can write after a dot or in quotes, and not another's.
    private static func isUsable(_ name: String) -> Bool {
        !name.isEmpty && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            && !Selection.reservedNames.contains(name)
    }

    // MARK: - Sinks

    private func assembleOutlets(
        _ configuration: PipelineConfiguration, _ problems: inout [ConfigurationProblem]
    ) -> [(path: String, outlet: Pipeline.Outlet)] {
        var outlets: [(path: String, outlet: Pipeline.Outlet)] = []
        var names = SinkNames()
        for (index, spec) in configuration.sinks.enumerated() {
            let path = "sinks[\(index)]"
            let common = PluginDescription(id: spec.id, settings: Self.commonSinkSettings)
            let shared = spec.keeping(common.keys)
            guard let plugin = found(spec.id, in: sinks, role: "sink", path, &problems),
                let values = plugin.about.values(
                    from: spec.dropping(common.keys), common: common.settings, path: path, problems: &problems),
                let commonValues = common.values(from: shared, path: path, problems: &problems)
            else { continue }
            do throws(ConfigurationError) {
                let items = commonValues[Self.select].isEmpty ? configuration.selection : commonValues[Self.select]
                var needs = plugin.needs(values)
                if needs.outputs.isEmpty, case .text(let target)? = values.value("path"), !target.isEmpty {
                    needs.outputs = [SinkPlugin.Output(target)]
                }
                let outlet = Pipeline.Outlet(
                    name: names.unused(spec.name), sink: try plugin.make(values),
                    selection: items.isEmpty ? .all : Selection(items: items),
                    lead: commonValues[Self.lead].map { $0 / 1000 }, needs: needs)
                outlets.append((path, outlet))
            } catch {
                problems += error.problems.map { $0.below(path) }
            }
        }
        return outlets
    }

    /// No two results may be written to one path.
    private func checkOutputs(
        _ outlets: [(path: String, outlet: Pipeline.Outlet)], inputs: [Pipeline.Input], _ problems: inout [ConfigurationProblem]
    ) {
        /// By file: the sink that writes there, and the input whose result it is; nil: that of all.
        var owners: [String: (sink: Int, input: String?)] = [:]
        var folders: [String: String] = [:]
        outlets: for (index, (path, outlet)) in outlets.enumerated() {
            for output in outlet.needs.outputs {
                guard let template = try? PathTemplate(output.path, isNumbered: true) else { continue }
                if !output.takesSeveralInputs, !template.isPerInput, inputs.count > 1 {
                    let name = OutputTarget(output.path).name
                    let message = "\(name) holds the result of one input, and there are \(inputs.count); write {stem} into the path"
                    problems.append(ConfigurationProblem(path, message))
                    continue outlets
                }
                for input in template.isPerInput ? inputs.map({ $0.path ?? $0.name }) : [nil] {
                    let file = template.path(PathTemplate.Values(input: input ?? "", time: "{time}", number: 0))
                    // Descriptors, devices and pipes take several results.
                    if OutputTarget(file).isSpecial { continue }
                    let identity = OutputTarget.identity(of: file, folders: &folders)
                    guard let owner = owners.updateValue((index, input), forKey: identity) else { continue }
                    let message =
                        if owner.sink == index, let input, let other = owner.input {
                            input == other
                                ? "\(input) is given twice, and both results would be written to \(file); give it once"
                                : "the results of \(other) and \(input) would both be written to \(file); "
                                    + "tell them apart with {dir} or {name} in the path"
                        } else {
                            "another sink writes to \(file) too; give one of them another path"
                        }
                    problems.append(ConfigurationProblem(path, message))
                    continue outlets
                }
            }
        }
    }

    private func checkStandardOutput(_ outlets: [Pipeline.Outlet], _ problems: inout [ConfigurationProblem]) {
        let writers = outlets.filter(\.needs.standardOutput)
        if writers.count > 1 {
            problems.append(
                ConfigurationProblem(
                    "sinks", "\(writers.map(\.name).joined(separator: " and ")) both write to standard output; give one a path"))
        }
    }

    /// The path of a feature that was named without its analyzer, in full or by its start: `beat.bpm` for `bpm`, `levels.rms_db` for
    /// `rms`.
    private static func featurePath(named name: String, of analyzers: [StreamHeader.Analyzer]) -> String? {
        guard !name.isEmpty, !name.contains(".") else { return nil }
        let paths = analyzers.flatMap { analyzer in
            analyzer.outputs.features.map { (name: $0.name, path: "\(analyzer.name).\($0.name)") }
        }
        return (paths.first { $0.name == name } ?? paths.first { $0.name.hasPrefix(name) })?.path
    }

    /// What a selection names must exist: a record type, an analyzer, or a feature of one.
    private func checkSelections(of pipeline: Pipeline) throws(ConfigurationError) {
        guard pipeline.outlets.contains(where: { !$0.selection.featurePaths.isEmpty }) else { return }
        let format = StreamFormat(sampleRate: 48_000, channelCount: 2)
        let analyzers = (try? pipeline.describeAnalyzers(for: format)) ?? []
        var problems: [ConfigurationProblem] = []
        for item in Set(pipeline.outlets.flatMap { $0.selection.featurePaths.map(\.text) }).sorted() {
            let dot = item.firstIndex(of: ".")
            let name = String(item[..<(dot ?? item.endIndex)])
            let features = analyzers.first { $0.name == name }?.outputs.features.map(\.name)
            let known: [String]
            if let features, let dot {
                if features.contains(item[item.index(after: dot)...].description) { continue }
                known = features.map { "\(name).\($0)" }
            } else if features != nil || pipeline.analyzerNames.contains(name) {
                continue
            } else {
                known = Selection.recordTypes + pipeline.analyzerNames
            }
            let suggestion = Self.featurePath(named: item, of: analyzers) ?? item.nearest(in: known)
            let hint = suggestion.map { "did you mean \($0)?" } ?? "there are: \(known.joined(separator: ", "))"
            problems.append(ConfigurationProblem("select", "\"\(item)\" is no record type, analyzer or feature here; \(hint)"))
        }
        if !problems.isEmpty { throw ConfigurationError(problems) }
    }

    private func found<Kind: Plugin>(
        _ id: String, in plugins: [Kind], role: String, _ path: String, _ problems: inout [ConfigurationProblem]
    ) -> Kind? {
        switch find(id, in: plugins, role: role) {
        case .success(let plugin): return plugin
        case .failure(let fault):
            problems.append(ConfigurationProblem(path, fault.message))
            return nil
        }
    }
}

extension ConfigurationProblem {
    /// The same problem, seen from further outside.
    fileprivate func below(_ parent: String) -> ConfigurationProblem {
        ConfigurationProblem(path.isEmpty ? parent : "\(parent).\(path)", message)
    }
}

extension PluginSpec {
    fileprivate func keeping(_ keys: [String]) -> PluginSpec {
        PluginSpec(id, settings: settings.filter { keys.contains($0.key) })
    }

    fileprivate func dropping(_ keys: [String]) -> PluginSpec {
        PluginSpec(id, as: alias, primary: primary, settings: settings.filter { !keys.contains($0.key) })
    }
}

/// Sinks need names only for reports: a second one of a kind gets a number.
private struct SinkNames {
    private var taken: Set<String> = []
    /// The number that was tried last for a name.
    private var numbers: [String: Int] = [:]

    mutating func unused(_ name: String) -> String {
        var unused = name
        while !taken.insert(unused).inserted {
            numbers[name, default: 1] += 1
            unused = "\(name)-\(numbers[name]!)"
        }
        return unused
    }
}
