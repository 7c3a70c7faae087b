/// The fuzzers, with the names of their corpora.
enum Fuzzer: String, CaseIterable, Sendable {
    case file, header, pcm, spec, pipeline, controls, recording, outputs, client, hub, http

    /// The fuzzer that the command line selects.
    static let chosen = Fuzzer(rawValue: CommandLine.arguments[1])!

    /// Runs one input. A violated requirement ends the process.
    func `try`(_ bytes: [UInt8]) {
        switch self {
        case .file: tryFile(bytes)
        case .header: tryHeader(bytes)
        case .pcm: tryPCM(bytes)
        case .spec: trySpec(bytes)
        case .pipeline: tryPipeline(bytes)
        case .controls: tryControls(bytes)
        case .recording: tryRecording(bytes)
        case .outputs: tryOutputs(bytes)
        case .client: tryClient(bytes)
        case .hub: tryHub(bytes)
        case .http: tryHTTP(bytes)
        }
    }
}

/// Ends the process if a condition is false.
func require(_ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String, line: UInt = #line) {
    if !condition() { fatalError(message(), line: line) }
}

/// Requires that a message has one line.
func requireOneLine(_ message: String) {
    require(!message.isEmpty, "an error has no message")
    require(!message.unicodeScalars.contains { $0.value < 0x20 }, "a message breaks its line: \(message)")
}
