public import Hemiola

extension CapturePlugin {
    /// Makes a capture.
    ///
    /// - Parameter settings: The settings, in the syntax of a SPEC after the colon; missing ones have their defaults.
    public func make(settings: String) throws(Problem) -> any Capture {
        try make(about.values(parsing: settings))
    }
}

extension AnalyzerPlugin {
    /// Makes an analyzer.
    ///
    /// - Parameter settings: The settings, in the syntax of a SPEC after the colon; missing ones have their defaults.
    public func make(settings: String) throws(Problem) -> any Analyzer {
        try make(about.values(parsing: settings))
    }
}

extension SinkPlugin {
    /// Makes a sink.
    ///
    /// - Parameter settings: The settings, in the syntax of a SPEC after the colon; missing ones have their defaults.
    public func make(settings: String) throws(Problem) -> any Sink {
        try make(about.values(parsing: settings))
    }
}

extension PluginDescription {
    /// The values of all settings.
    fileprivate func values(parsing settings: String) throws(Problem) -> SettingValues {
        let spec = try PluginSpec(parsing: settings.isEmpty ? id : "\(id):\(settings)")
        var problems: [Problem] = []
        guard let values = values(from: spec, problems: &problems) else { throw Problem(problems) }
        return values
    }
}

extension StreamHeader {
    /// The header of a stream, for a test that calls `begin` of a sink or `prepare` of a director.
    ///
    /// - Parameters:
    ///   - format: The format of the stream.
    ///   - isLive: Whether the stream comes from a live capture.
    ///   - analyzers: Names of analyzers with their outputs, in the order of the row.
    ///   - catalog: The declared types of the program.
    public static func test(
        _ format: StreamFormat = TestSignal.mono, isLive: Bool = false, analyzers: [(name: String, outputs: AnalyzerOutputs)] = [],
        catalog: RecordCatalog = .standard
    ) -> StreamHeader {
        StreamHeader(
            source: StreamSource(format: format, kind: "test", name: "test"), isLive: isLive, batching: .standard, seed: 0,
            analyzers: analyzers.map { Analyzer(name: $0.name, id: $0.name, version: 1, parameters: [], outputs: $0.outputs) },
            catalog: catalog)
    }
}
