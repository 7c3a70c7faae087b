import ArgumentParser
import Hemiola
import HemiolaPlugins
import Testing

@testable import HemiolaCommandLine

@Suite struct ParsingTests {
    @Test func `file without options: default analyzers, JSON Lines on standard output`() throws {
        let configuration = try configuration(["song.flac"])
        let expected = PipelineConfiguration(
            captures: [PluginSpec("file", primary: .text("song.flac"))],
            analyzers: ["levels", "spectrum", "visualizer", "beat"].map { PluginSpec($0) }, sinks: [PluginSpec("json-lines")],
            jobCount: InputOptions.defaultJobCount)
        #expect(configuration == expected)
    }

    @Test func `options: set in the configuration`() throws {
        let configuration = try configuration(["--batch", "2048", "a", "--seed", "18446744073709551615", "--realtime", "b"])
        #expect(configuration.batchFrames == 2048)
        #expect(configuration.seed == .max)
        #expect(configuration.isPaced)
        #expect(configuration.paths == ["a", "b"])
    }

    @Test(arguments: ["a,b=c.wav", "exec:rm", "a+b", "with space", "\"quoted\"", "back\\slash", "Ünï—.flac", "-", "new\nline"])
    func `file name with special characters: used unchanged`(name: String) throws {
        #expect(try configuration([name]).paths == [name])
    }

    @Test(arguments: [("90", 90), ("1:30", 90), ("1:02:03.5", 3723.5), ("0.25", 0.25)])
    func `--start and --duration: seconds or minutes and seconds`(text: String, seconds: Double) throws {
        let configuration = try configuration(["a.wav", "--start", text, "--duration", text])
        #expect(configuration.captures[0].settings == ["start": .number(seconds), "duration": .number(seconds)])
    }

    @Test(arguments: ["", "x", "-1", "1:60", "1:2:3:4", "1.5:30", "1:", "nan", "1e3"])
    func `invalid --start: refused`(text: String) {
        #expect(throws: Failure.self) { try configuration(["a.wav", "--start=\(text)"]) }
    }

    @Test func `--start of standard input: refused`() {
        #expect(throws: Failure.self) { try configuration(["-", "--start", "1"]) }
    }

    @Test func `name that begins with a dash, after --: accepted`() throws {
        #expect(try configuration(["a", "--", "-b", "--batch"]).paths == ["a", "-b", "--batch"])
    }

    @Test func `--analyzer: replaces the default analyzers`() throws {
        let configuration = try configuration(["a", "--analyzer", "spectrum:bands=32,as=coarse", "--analyzer", "levels"])
        let coarse = PluginSpec("spectrum", as: "coarse", settings: ["bands": .text("32")])
        #expect(configuration.analyzers == [coarse, PluginSpec("levels")])
    }

    @Test func `--analyzer with +: added to the default analyzers`() throws {
        let names = try configuration(["a", "--analyzer", "+spectrum:bands=8,as=coarse"]).analyzers.map(\.name)
        #expect(names == ["levels", "spectrum", "visualizer", "beat", "coarse"])
    }

    @Test func `--analyzer with + and a default analyzer's name: replaces that analyzer`() throws {
        let analyzers = try configuration(["a", "--analyzer", "+spectrum:bands=8"]).analyzers
        #expect(analyzers.map(\.name) == ["levels", "spectrum", "visualizer", "beat"])
        #expect(analyzers[1] == PluginSpec("spectrum", settings: ["bands": .text("8")]))
    }

    @Test func `--analyzer with and without +: only the named analyzers`() throws {
        let names = try configuration(["a", "--analyzer", "+levels", "--analyzer", "spectrum"]).analyzers.map(\.name)
        #expect(names == ["levels", "spectrum"])
    }

    @Test(arguments: [
        (["--select", "beat,levels.rms_db"], ["beat", "levels.rms_db"]), (["--select", "beat+onset"], ["beat", "onset"]),
        (["--select", "end", "--select=header"], ["end", "header"]), ([], []),
    ])
    func `--select: items may be joined and repeated`(arguments: [String], expected: [String]) throws {
        #expect(try configuration(["a"] + arguments).selection == expected)
    }

    @Test func `-v: counted`() throws {
        let command = try command(AnalyzeCommand.self, ["a", "-vv"])
        #expect(command.console.verbosity == Console.Verbosity(isQuiet: false, detail: 2))
    }

    @Test(arguments: [["--help"], ["help"], ["help", "analyze"], ["analyze", "--help"]])
    func `help: returned as text`(arguments: [String]) throws {
        guard case .text(let text) = try Root.parsed(arguments) else {
            Issue.record("no text")
            return
        }
        #expect(text.hasPrefix("OVERVIEW: "))
        #expect(text.contains("USAGE: hemiola"))
    }

    @Test func `no arguments: ten lines of 80 columns with two commands, each alone on its line`() throws {
        guard case .text(let text) = try Root.parsed([]) else {
            Issue.record("no text")
            return
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 10 && lines.allSatisfy { $0.count <= 80 }, "\(text)")
        #expect(lines.first?.contains(HemiolaVersion.current) == true)
        let commands = lines.filter { $0.hasPrefix("  ") }.map { $0.split(separator: " ").dropFirst().map(String.init) }
        #expect(commands.count == 2)
        for command in commands {
            guard case .command = try Root.parsed(command) else {
                Issue.record("\(command) is no command")
                continue
            }
        }
        for match in text.matches(of: /hemiola (\w+)/) {
            #expect(Root.commandNames.contains(String(match.1)), "\(match.0)")
        }
    }

    @Test(arguments: [["schema", "--generate-completion-script", "bash"], ["--generate-completion-script", "bash"]])
    func `completion script requested from a subcommand: covers the whole program`(arguments: [String]) throws {
        guard case .text(let text) = try Root.parsed(arguments) else {
            Issue.record("not text")
            return
        }
        #expect(text.contains("complete -o filenames -F _hemiola_joined hemiola"))
    }

    @Test(arguments: [["--version"], ["analyze", "--version"], ["analyze", "a", "--version"]])
    func `version, also requested from a subcommand: returned as text`(arguments: [String]) throws {
        guard case .text(let text) = try Root.parsed(arguments) else {
            Issue.record("no text")
            return
        }
        #expect(text == HemiolaVersion.current)
    }

    @Test(arguments: Root.commandNames.dropLast())
    func `examples in help: parsed and assembled without error`(name: String) throws {
        let type = try #require(Root.configuration.subcommands.first { $0._commandName == name })
        let examples = type.configuration.discussion.split(separator: "\n").filter { $0.hasPrefix("  ") && $0.contains("hemiola ") }
        #expect((3...7).contains(examples.count))
        for example in examples {
            let command = try #require(example.split(separator: "|").last { $0.contains("hemiola ") })
            let words = command.split(separator: ">")[0].split(separator: " ").map { $0.filter { $0 != "'" } }
            // The list does not exist in this test.
            let arguments = words.drop { $0 != "hemiola" }.dropFirst().map { $0 == "-" ? "/dev/null" : $0 }
            guard case .command(let parsed) = try Root.parsed(Array(arguments)) else {
                Issue.record("\(example) is no command")
                continue
            }
            if let analyze = parsed as? AnalyzeCommand, analyze.input.filesFrom == nil {
                _ = try analyze.builder(with: .standard).assemble()
            } else if let schema = parsed as? SchemaCommand {
                #expect(try !schema.text(with: .standard).isEmpty)
            }
        }
    }

    @Test(arguments: Root.commandNames.dropLast())
    func `help: at most 80 columns`(name: String) throws {
        guard case .text(let text) = try Root.parsed([name, "--help"]) else {
            Issue.record("no text")
            return
        }
        for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }
}
