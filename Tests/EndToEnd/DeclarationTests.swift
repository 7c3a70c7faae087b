import Foundation
import TestSupport
import Testing

/// The manual page, the completions of three shells and the help, compared with the declarations of commands, options and plugins.
@Suite(.mayNotHang) struct DeclarationTests {
    /// A subcommand, or the program itself.
    private struct Command {
        var name: String?
        /// With their dashes: `-o`, `--output`.
        var options: [String]
        /// The lines of its text that are indented, as of examples and lists.
        var listed: [Substring]
    }

    private struct Plugin: Decodable {
        struct Setting: Decodable {
            var key: String
            var description: String
        }

        var id: String
        var role: String
        var description: String
        var settings: [Setting]
    }

    private let commands: [Command]
    private let plugins: [Plugin]

    init() throws {
        let dump = try Hemiola.run(["--experimental-dump-help"]).output
        let root = try #require(try JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [String: Any])
        let program = try #require(root["command"] as? [String: Any])
        let subcommands = try #require(program["subcommands"] as? [[String: Any]])
        commands = ([program] + subcommands).enumerated().map { index, command in
            // Hidden options are those that Hemiola passes to its own child processes.
            let arguments = (command["arguments"] as? [[String: Any]] ?? []).filter { $0["shouldDisplay"] as? Bool != false }
            let names = arguments.flatMap { $0["names"] as? [[String: String]] ?? [] }
            return Command(
                name: index == 0 ? nil : command["commandName"] as? String,
                options: names.map { ($0["kind"] == "long" ? "--" : "-") + ($0["name"] ?? "") },
                listed: (command["discussion"] as? String ?? "").split(separator: "\n").filter { $0.hasPrefix("  ") })
        }
        plugins = try JSONDecoder().decode([Plugin].self, from: Data(Hemiola.run(["plugins", "--json"]).output.utf8))
        try #require(commands.count > 10 && plugins.count > 10 && commands.allSatisfy { !$0.options.isEmpty })
    }

    /// The words of a text, with dashes and underscores.
    private func words(_ text: String) -> Set<String> {
        Set(text.split { !($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }.map(String.init))
    }

    // MARK: - Manual page

    @Test(.needs(.program("python3"))) func `manual page: has every command, option and plugin`() throws {
        let outcome = try ChildProcess.run("/usr/bin/env", ["python3", Hemiola.root + "/packaging/make-man", Hemiola.path])
        try #require(outcome.status == 0, "\(outcome.errors)")
        // Roff writes a dash as \-, and fonts as \fB.
        let page = outcome.output.replacing("\\-", with: "-").replacing(/\\f[BIR]/, with: "")
        let sections = page.components(separatedBy: "\n.S").map { "\n.S" + $0 }
        func section(_ title: String) -> String { sections.first { $0.hasPrefix("\n.SS \(title)\n") } ?? "" }
        for command in commands where command.name != "help" {
            let text = command.name.map { section("hemiola \($0)") } ?? page
            let words = words(text)
            #expect(!text.isEmpty, "\(command.name ?? "")")
            // Every command has --help and --version, which are described once.
            for option in command.options where command.name == nil || !["-h", "--help", "--version"].contains(option) {
                #expect(words.contains(option), "\(command.name ?? "") \(option)")
            }
        }
        for plugin in plugins { #expect(page.contains("\n.TP\n\(plugin.id) (\(plugin.role))\n"), "\(plugin.id)") }
        // Lines that belong together are not one paragraph, and a line that is continued is not two.
        let lines = Set(page.replacing("\\(aq", with: "'").split(separator: "\n"))
        for command in commands where command.name != nil {
            for line in command.listed where line.allSatisfy({ $0.isASCII && !"\\`^~".contains($0) }) {
                #expect(lines.contains(line.dropFirst(2)), "\(command.name ?? ""): \(line)")
            }
        }
        let status = sections.first { $0.hasPrefix("\n.SH EXIT STATUS\n") } ?? ""
        let codes = status.components(separatedBy: "\n.TP\n").dropFirst()
        #expect(codes.count > 4 && codes.allSatisfy { $0.first?.isNumber == true }, "\(codes)")
    }

    // MARK: - Help

    @Test func `help of each command: has every option`() throws {
        for command in commands where command.name != "help" {
            let help = words(try Hemiola.run((command.name.map { [$0] } ?? []) + ["--help"]).output)
            for option in command.options { #expect(help.contains(option), "\(command.name ?? "") \(option)") }
            if command.name == nil {
                for command in commands.compactMap(\.name) where command != "help" { #expect(help.contains(command)) }
            }
        }
    }

    @Test func `help of send: the controls in a list of their own, one on each line`() throws {
        let send = try #require(commands.first { $0.name == "send" })
        let schema = try Hemiola.run(["schema"]).output
        let controls = send.listed.filter { !$0.hasPrefix("  hemiola ") }.compactMap { $0.split(separator: " ").first }
        #expect(controls.count > 10 && controls.last == "closeViz")
        #expect(controls.dropLast().allSatisfy { schema.contains("\"\($0)\"") }, "\(controls)")
    }

    @Test func `help of each plugin: has every setting with its description`() throws {
        for plugin in plugins {
            let help = try Hemiola.run(["plugins", plugin.id]).output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(help.contains(plugin.description))
            for setting in plugin.settings {
                #expect(help.contains("\(setting.key) ") && help.contains(setting.description), "\(plugin.id): \(setting.key)")
            }
        }
    }

    // MARK: - Completions

    private func script(for shell: String) throws -> String {
        let outcome = try Hemiola.run(["--generate-completion-script", shell])
        try #require(outcome.status == 0)
        return outcome.output
    }

    @Test(arguments: ["bash", "zsh"]) func `completions for bash and zsh: every command and option`(shell: String) throws {
        let script = try script(for: shell)
        for command in commands where command.name != "help" {
            let function = "\n_hemiola\(command.name.map { "_\($0)" } ?? "")() {\n"
            let start = try #require(script.range(of: function), "\(function)")
            let end = try #require(script.range(of: "\n}\n", range: start.upperBound..<script.endIndex))
            let words = words(String(script[start.upperBound..<end.lowerBound]))
            for option in command.options { #expect(words.contains(option), "\(command.name ?? "") \(option)") }
            if command.name == nil {
                for name in commands.compactMap(\.name) { #expect(words.contains(name), "\(name)") }
            }
        }
    }

    @Test func `completions for fish: every command and option`() throws {
        let lines = try script(for: "fish").split(separator: "\n").filter { $0.hasPrefix("complete ") }
        for command in commands where command.name != "help" {
            let title = "\"hemiola\(command.name.map { " \($0)" } ?? "")\""
            let own = lines.filter { $0.contains(title) }
            for option in command.options {
                let flag = option.hasPrefix("--") ? "-l '\(option.dropFirst(2))'" : "-s '\(option.dropFirst())'"
                #expect(own.contains { $0.contains(flag) }, "\(command.name ?? "") \(option)")
            }
            guard let name = command.name else { continue }
            #expect(lines.contains { $0.contains("-fa '\(name)'") }, "\(name)")
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func `completions: every plugin and setting, from the program`(shell: String) throws {
        let script = try script(for: shell)
        for (role, option) in [("capture", "--capture"), ("analyzer", "--analyzer"), ("sink", "--sink"), ("control", "--control")] {
            // The script calls the program for the values of this option.
            #expect(script.contains("---completion analyze -- \(option)"))
            func candidates(_ prefix: String) throws -> [String] {
                let words = ["hemiola", "analyze", option, prefix]
                // The indices of the word and of the cursor in it, then all words.
                let outcome = try ChildProcess.run(
                    Hemiola.path, ["---completion", "analyze", "--", option, "3", String(prefix.count)] + words,
                    environment: ["SAP_SHELL": shell])
                #expect(outcome.status == 0, "\(outcome.errors)")
                // For zsh, colons are escaped, and the last line is a blank, which the script removes.
                return outcome.lines.filter { $0 != " " }.map { $0.replacing("\\:", with: ":") }
            }
            let own = plugins.filter { $0.role == role }
            let ids = Set(try candidates("").map { $0.split(separator: ":")[0].description })
            #expect(ids == Set(own.map(\.id)))
            for plugin in own where !plugin.settings.isEmpty {
                let found = try candidates("\(plugin.id):")
                for setting in plugin.settings {
                    #expect(found.contains("\(plugin.id):\(setting.key)="), "\(shell): \(plugin.id):\(setting.key)")
                }
            }
        }
    }
}
