import ArgumentParser
import Testing

@testable import HemiolaCommandLine

@Suite struct ShortHelpTests {
    @Test(arguments: [[]] + Root.configuration.subcommands.map { [$0._commandName] })
    func `-h: what the command does, its usage, and every option with whole sentences`(command: [String]) throws {
        guard case .text(let short) = try Root.parsed(command + ["-h"], columns: 80),
            case .text(let long) = try Root.parsed(command + ["--help"])
        else {
            Issue.record("no text")
            return
        }
        let lines = short.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.dropFirst().allSatisfy { $0.count <= 80 }, "\(short)")
        #expect(lines.count <= 40 && !short.contains("OVERVIEW"), "\(short)")
        // Each description is the beginning of the whole text, up to the end of a sentence or a clause.
        let words = long.split(whereSeparator: \.isWhitespace).joined(separator: " ") + " "
        let entries = lines.drop { !$0.hasPrefix("  ") || $0.hasPrefix("       ") }.prefix { !$0.isEmpty }.joined(separator: "\n")
        for entry in entries.split(separator: /\n(?=  [^ ])/) {
            let text = entry.dropFirst(2).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect([". ", "; ", " "].contains { words.contains(text + $0) }, "\(text)")
            #expect(!text.hasSuffix(",") && !text.hasSuffix(":") && !text.contains("…"), "\(text)")
        }
        #expect(
            lines.count(where: { $0.hasPrefix("  -") }) == long.split(separator: "\n").count(where: { $0.hasPrefix("  -") }), "\(short)")
        #expect(lines.last?.hasSuffix(((["hemiola"] + command).joined(separator: " ")) + " --help") == true, "\(short)")
    }

    @Test(arguments: [("beats", "text, audacity, json"), ("render", "light or dark"), ("render", ".png, .svg or .pdf")])
    func `-h: the choices of an option`(command: String, text: String) throws {
        guard case .text(let short) = try Root.parsed([command, "-h"], columns: 80) else { return }
        #expect(short.contains(text), "\(short)")
    }

    @Test(arguments: Root.configuration.subcommands.map { $0._commandName }) func `--help: examples are not wrapped at 80 columns`(
        command: String
    ) throws {
        let type = try #require(Root.configuration.subcommands.first { $0._commandName == command })
        guard case .text(let help) = try Root.parsed([command, "--help"], columns: 80) else { return }
        for line in type.configuration.discussion.split(separator: "\n") where line.hasPrefix("  ") {
            #expect(help.contains("\n\(line)\n"), "\(line)")
        }
    }

    @Test(arguments: ["--csv", "--bpm", "--parquet"]) func `an option that others have: the message names what leads there`(option: String)
    {
        let error = #expect(throws: Failure.self) { try Root.parsed(["analyze", "a.wav", option]) }
        #expect(error?.lines.count == 1 && error?.lines.first?.contains("; for ") == true, "\(String(describing: error))")
    }
}
