import ArgumentParser
import Testing

@testable import HemiolaCommandLine

@Suite struct ShortHelpTests {
    @Test(arguments: [[]] + Root.configuration.subcommands.map { [$0._commandName] })
    func `-h: what the command does, its usage, and every option on a line of the terminal`(command: [String]) throws {
        guard case .text(let short) = try Root.parsed(command + ["-h"], columns: 80),
            case .text(let long) = try Root.parsed(command + ["--help"])
        else {
            Issue.record("no text")
            return
        }
        let lines = short.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.dropFirst().allSatisfy { $0.count <= 80 }, "\(short)")
        #expect(lines.count <= 40 && !short.contains("OVERVIEW"), "\(short)")
        #expect(
            lines.count(where: { $0.hasPrefix("  -") }) == long.split(separator: "\n").count(where: { $0.hasPrefix("  -") }), "\(short)")
        #expect(lines.last?.hasSuffix(((["hemiola"] + command).joined(separator: " ")) + " --help") == true, "\(short)")
    }

    @Test(arguments: ["--csv", "--bpm", "--parquet"]) func `an option that others have: the message names what leads there`(option: String)
    {
        let error = #expect(throws: Failure.self) { try Root.parsed(["analyze", "a.wav", option]) }
        #expect(error?.lines.count == 1 && error?.lines.first?.contains("; for ") == true, "\(String(describing: error))")
    }
}
