import Testing

@testable import Hemiola

/// Errors of an analyzer that is a program: they name the plugin and the setting.
@Suite struct AnalyzerServiceTests {
    @Test func `setting outside its range: the program says which plugin and setting`() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            AnalyzerPlugin.gate.serve(["sensitivity=5"])
        }
        #expect(try Self.error(result.standardOutputContent) == "gate.sensitivity: 5 is outside 0...1 amplitude")
    }

    @Test func `several invalid settings: all are named in one line`() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            AnalyzerPlugin.gate.serve(["sensitivity=5", "sensitivty=1"])
        }
        let error = try #require(try Self.error(result.standardOutputContent))
        #expect(error.contains("gate.sensitivity: 5 is outside"), "\(error)")
        #expect(error.contains("gate.sensitivty: gate has no such setting; did you mean sensitivity?"), "\(error)")
    }

    @Test(arguments: [
        (Problem("0.5 is not above low; raise it", at: "high"), "gate.high: 0.5 is not above low; raise it"),
        (Problem("the model is missing"), "gate: the model is missing"), (Problem("gate needs a model"), "gate needs a model"),
        (Problem([Problem("is odd", at: "size"), Problem("is missing", at: "model")]), "gate.size: is odd; gate.model: is missing"),
    ])
    func `refusal of a program: names its plugin and each setting`(problem: Problem, text: String) {
        #expect(AnalyzerService.refusal(problem, naming: "gate") == .object([.init("error", .text(text))]))
    }

    @Test func `analyzer in a process of its own that refuses its settings: its words alone`() throws {
        #expect(AnalyzerService.refusal(Problem("is missing"), naming: nil) == .object([.init("error", .text("is missing"))]))
        let command = ProgramCommand.shell(#"read line; echo '{"error":"it is missing; install it"}'"#)
        let program = BlockProgram(
            command, name: "other", timeout: 30, policy: .fail, remedy: "report it", samples: .interleaved, isHemiola: true)
        let problem = #expect(throws: Problem.self) { try BlockAnalyzer(program).load() }
        #expect(problem?.description == "it is missing; install it")
    }

    @Test func `events of an analyzer that is a program: those of a type have its fields`() {
        var lines = JSONBuffer(capacity: 256)
        lines.append([
            Beat(beatsPerMinute: .nan, position: 2, confidence: 0.5).event(at: 1.5), Onset(strength: 1.25).event(at: 2),
            AnalyzerEvent(output: "beat", values: [3], label: "a").event(at: 2.5),
        ])
        let text = lines.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(
            text == """
                {"event":"beat","t":1.5,"bpm":null,"position":2,"confidence":0.5}
                {"event":"onset","t":2.0,"strength":1.25}
                {"event":"beat","t":2.5,"values":[3.0],"label":"a","duration_s":null}

                """)
    }

    /// The member `error` of a line.
    private static func error(_ output: [UInt8]) throws -> String? {
        try JSONValue(Array(output.prefix { $0 != UInt8(ascii: "\n") }))["error"]?.string
    }
}

extension AnalyzerPlugin {
    fileprivate static let gate = AnalyzerPlugin(PluginDescription("gate", "Opens for loud sound."), settings: GateSettings.self) {
        _ throws(Problem) in
        Gate()
    }
}

private struct GateSettings: PluginSettings {
    init(_ read: inout SettingReader) {
        _ = read.number("sensitivity", default: 0.1, in: 0...1, unit: .amplitude, "Quieter sound is ignored.")
    }
}

private final class Gate: Analyzer {
    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs { AnalyzerOutputs() }
    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {}
}
