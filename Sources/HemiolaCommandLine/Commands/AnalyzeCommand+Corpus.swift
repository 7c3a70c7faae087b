internal import Hemiola
internal import HemiolaEngine
internal import HemiolaRecords

extension AnalyzeCommand {
    /// Analyses each input into a result of its own, below a folder.
    ///
    /// Each job is a pipeline, which keeps its analyzers from one input to the next; all of them take their inputs from one source.
    func run(into path: String, with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        let format = corpus.outputFormat ?? .jsonLines
        var folder = path[...]
        while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
        let template = folder.split(separator: "{", omittingEmptySubsequences: false).joined(separator: "{{")
        let sink = PluginSpec(format.sink, primary: .text("\(template)/{dir}/{name}.\(format.rawValue)"))
        var builder = ConfigurationBuilder(registry)
        try builder.set(options, defaultSink: sink.id)
        builder.configuration.sinks = [sink]
        // The header and the end of a result show whether it is complete.
        if !builder.configuration.selection.isEmpty { builder.configuration.selection += ["header", "end"] }
        builder.configuration.usesLookAhead = wholeFile
        builder.configuration.jobCount = input.jobCount
        // Checks all options before the folder is created.
        let fingerprint = try fingerprint(of: try builder.assemble(inputs: NoInputs()))
        var inputs = try input.inputs(registry.soundFileTypes)
        let output = try OutputFolder(path)
        defer { output.release() }
        inputs.skipped = output.identity
        let failures = FailureList(in: output.path)
        let source = CorpusSource(
            inputs, folder: output.path, format: format, check: corpus.resume ? ResultCheck(fingerprint: fingerprint) : nil,
            failures: failures, spec: try input.spec(), report: { console.error($0) })
        builder.configuration.fingerprint = fingerprint
        builder.configuration.jobCount = 1
        var pipelines: [Pipeline] = []
        for _ in 0..<min(input.jobCount, inputs.count ?? .max) {
            pipelines.append(try builder.assemble(inputs: source))
        }
        return CorpusSession(pipelines, source, failures, console: console).run()
    }
}

/// A source without inputs.
private struct NoInputs: InputSource {
    let results = ResultForm.filePerInput

    func next() -> SourceInput? { nil }
    func cancel() {}
    func inputEnded(_ input: SourceInput, _ end: InputEnd) {}
}
