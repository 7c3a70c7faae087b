internal import Hemiola
internal import HemiolaEngine
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

extension AnalyzeCommand {
    /// Identifies everything that determines the result of an input besides the input: version, analyzers with their settings and
    /// versions, batch size, seed, selection, excerpt and format. 16 hexadecimal digits.
    ///
    /// - Parameter pipeline: The pipeline of this command.
    func fingerprint(of pipeline: Pipeline) throws(Failure) -> String {
        let analyzers = try pipeline.describedAnalyzers(for: StreamFormat(sampleRate: 48_000, channelCount: 2))
        var parts = ["hemiola \(HemiolaVersion.current)", "schema \(StreamHeader.schema)"]
        for analyzer in analyzers {
            parts.append("analyzer \(analyzer.name) \(analyzer.id) \(analyzer.version)")
            parts += analyzer.parameters.map { "\($0.key)=\($0.value.text)" }
        }
        let configuration = pipeline.configuration
        parts.append("batch \(configuration.batchFrames)")
        parts.append("seed \(configuration.seed ?? 0)")
        parts += configuration.selection.sorted().map { "select \($0)" }
        parts.append("whole-file \(configuration.usesLookAhead)")
        parts.append("raw \(input.raw ?? "")")
        parts.append("start \(input.start ?? "")")
        parts.append("duration \(input.duration ?? "")")
        parts.append("format \((corpus.outputFormat ?? .jsonLines).rawValue)")
        let text = String(Self.hash(parts.joined(separator: "\0")), radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    /// The hash FNV-1a of 64 bits, which is the same in every process.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
