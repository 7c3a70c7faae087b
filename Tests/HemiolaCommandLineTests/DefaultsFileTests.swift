import Hemiola
import HemiolaPlugins
import HemiolaSystem
import TestSupport
import Testing

@testable import HemiolaCommandLine

/// The ids of all sinks.
private let sinks = PluginRegistry.standard.sinks.map(\.about.id).joined(separator: ", ")

/// The defaults file of `listen`. EndToEndTests run the program with one.
@Suite struct DefaultsFileTests {
    private func file(_ text: String) throws -> DefaultsFile {
        try DefaultsFile(text, path: "/a/d.yaml", title: "d.yaml", .standard)
    }

    private func problems(_ text: String) -> [String] {
        do {
            _ = try file(text)
            return []
        } catch {
            return (error as? Failure)?.status == .usage ? (error as? Failure)?.lines ?? [] : ["another status"]
        }
    }

    private func configuration(_ arguments: [String], _ text: String, display: String? = nil) throws -> PipelineConfiguration {
        let registry = PluginRegistry.standard.adding(sinks: [.liveLine(on: Console(output: { _ in }))])
        let builder = try command(ListenCommand.self, arguments).builder(with: registry, defaults: try file(text), display: display)
        // All parts of the configuration fit together.
        _ = try builder.assemble()
        return builder.configuration
    }

    private static let whole = """
        device: app:Firefox
        analyzers: [levels, {id: beat, max_bpm: 200}]
        sinks:
          - web
          - json-lines:/tmp/evening-{time}.jsonl,select=beat
        """

    @Test func `all keys: read`() throws {
        let defaults = try file(Self.whole)
        #expect(defaults.device == "app:Firefox" && defaults.keys == ["device", "analyzers", "sinks"])
        #expect(defaults.analyzers == [PluginSpec("levels"), PluginSpec("beat", settings: ["max_bpm": .integer(200)])])
        #expect(defaults.sinks?.map(\.id) == ["web", "json-lines"])
    }

    @Test(arguments: ["", "# nothing", "{}", "device: ~\nsinks:"]) func `keys without a value: set nothing`(text: String) throws {
        #expect(try file(text).keys == [])
    }

    @Test(arguments: [
        ("devic: x", ["d.yaml:1:1: devic: unknown key; did you mean device?"]),
        ("batch: 512", ["d.yaml:1:1: batch: unknown key; keys: device, analyzers, sinks, controls"]),
        ("device: [a]", ["d.yaml:1:1: device: a list is not the name of a device"]),
        ("device: ''", [#"d.yaml:1:1: device: "" is not the name of a device"#]),
        (
            "analyzers: [levels]\nsinks:\n  - {id: web, prot: 1}\n  - sockt",
            [
                "d.yaml:3:15: sinks[0].prot: web has no such setting; did you mean port?",
                #"d.yaml:4:5: sinks[1]: there is no sink "sockt"; did you mean socket?"#,
            ]
        ),
        ("- levels", ["d.yaml:1:1: the defaults are a map with the keys device, analyzers, sinks, controls"]),
        ("device: a\ndevice: b", ["d.yaml:2:1: device is already given in line 1"]),
        (
            "sinks: [live-line]",
            [#"d.yaml:1:9: sinks[0]: there is no sink "live-line"; there are: \#(sinks)"#]
        ),
        (
            "analyzers: &a [levels]",
            ["d.yaml:1:12: anchors and aliases (&name, *name) are not supported; write the value itself, text in quotes"]
        ),
    ])
    func `invalid file: one line per error with file, line and key`(text: String, lines: [String]) {
        #expect(problems(text) == lines)
    }

    // MARK: - The path

    @Test func `path: XDG_CONFIG_HOME, else below HOME; relative paths are ignored`() {
        func path(_ variables: [String: String]) -> String? { DefaultsFile.path { variables[$0] } }
        #expect(path(["XDG_CONFIG_HOME": "/c", "HOME": "/h"]) == "/c/hemiola/defaults.yaml")
        #expect(path(["HOME": "/h"]) == "/h/.config/hemiola/defaults.yaml")
        #expect(path(["XDG_CONFIG_HOME": "c", "HOME": "/h"]) == "/h/.config/hemiola/defaults.yaml")
        #expect(path(["HOME": "h"]) == nil && path([:]) == nil)
    }

    @Test func `file on disk: missing, valid, too large, not text, a folder`() throws {
        let folder = try TemporaryFolder()
        func state(_ name: String = "d.yaml") -> DefaultsFile.State { DefaultsFile.state(.standard, at: folder(name)) }
        func lines(_ name: String = "d.yaml") -> [String] {
            if case .invalid(let path, let lines) = state(name), path == folder(name) { return lines }
            return []
        }
        #expect(state().text == "missing \(folder("d.yaml"))")
        try folder.write("device: x", to: "d.yaml")
        #expect(state().text == "valid \(folder("d.yaml"))")
        #expect(state("d.yaml/below").text == "missing \(folder("d.yaml/below"))")
        try folder.write([0xFF, 0xFE], to: "d.yaml")
        #expect(lines() == ["\(folder("d.yaml")): not UTF-8 text"])
        try folder.write(String(repeating: "#", count: DefaultsFile.maxByteCount + 1), to: "d.yaml")
        #expect(lines() == ["\(folder("d.yaml")): the file has more than 64 KiB"])
        #expect(DefaultsFile.state(.standard, at: folder.path).text == "invalid \(folder.path)")
        #expect(DefaultsFile.state(.standard, at: nil).text == "no path")
    }

    // MARK: - Options replace defaults

    @Test func `no options: device and analyzers are used; sinks are added to the status line or to JSON Lines`() throws {
        let listen = try configuration([], Self.whole)
        #expect(listen.captures == [PluginSpec("pulse", primary: .text("app:Firefox"))])
        #expect(listen.analyzers.map(\.id) == ["levels", "beat"])
        #expect(listen.sinks.map(\.id) == ["json-lines", "web", "json-lines"] && listen.sinks[0] == PluginSpec("json-lines"))
        #expect(try configuration([], Self.whole, display: SinkPlugin.liveLineID).sinks.map(\.id) == ["live-line", "web", "json-lines"])
    }

    @Test func `--device and --capture: replace the device`() throws {
        #expect(try configuration(["--device", "hdmi"], Self.whole).captures == [PluginSpec("pulse", primary: .text("hdmi"))])
        #expect(try configuration(["--capture", "tone:sine"], Self.whole).captures == [PluginSpec("tone", primary: .text("sine"))])
    }

    @Test func `--analyzer: replaces the analyzers; with + it is added`() throws {
        #expect(try configuration(["--analyzer", "spectrum"], Self.whole).analyzers == [PluginSpec("spectrum")])
        #expect(try configuration(["--analyzer", "+spectrum"], Self.whole).analyzers.map(\.id) == ["levels", "beat", "spectrum"])
        let replaced = try configuration(["--analyzer", "+beat"], Self.whole).analyzers
        #expect(replaced == [PluginSpec("levels"), PluginSpec("beat")])
    }

    @Test func `--sink: replaces the sinks; -o is added to them`() throws {
        #expect(try configuration(["--sink", "csv:/tmp/a.csv"], Self.whole).sinks.map(\.id) == ["csv"])
        #expect(try configuration(["-o", "/tmp/a.csv"], Self.whole).sinks.map(\.id) == ["csv", "web", "json-lines"])
    }

    @Test func `--control: replaces the control sources; --sink does not`() throws {
        let text = "controls: [link, {id: osc, address: \"127.0.0.1:9002\"}]"
        #expect(try file(text).keys == ["controls"])
        #expect(try configuration([], text).controls.map(\.id) == ["link", "osc"])
        #expect(try configuration(["--sink", "csv:/tmp/a.csv"], text).controls.map(\.id) == ["link", "osc"])
        #expect(try configuration(["--control", "midi:/dev/midi1"], text).controls == [PluginSpec("midi", primary: .text("/dev/midi1"))])
    }

    @Test func `sink that needs standard output: written there instead of the status line and JSON Lines`() throws {
        #expect(try configuration([], "sinks: [csv]").sinks.map(\.id) == ["csv"])
        #expect(try configuration([], "sinks: [csv]", display: SinkPlugin.liveLineID).sinks.map(\.id) == ["csv"])
        #expect(try configuration(["--json"], "sinks: [presets:names=a]").sinks.map(\.id) == ["json-lines", "presets"])
    }

    @Test func `view: shown with its settings beside other sinks, only where there is a terminal that no option uses`() throws {
        let registry = PluginRegistry.standard.adding(sinks: [.terminal(on: Console(output: { _ in }))])
        let defaults = try DefaultsFile("sinks: [web, {id: terminal, colors: light, bar_width: 1}]", path: "/a", title: "d.yaml", registry)
        func sinks(_ arguments: [String], on output: FileDescriptor.Destination) throws -> [PluginSpec] {
            let command = try command(ListenCommand.self, arguments)
            let display = command.display(on: output, terminal: "xterm", defaults)
            return try command.builder(
                with: registry.adding(sinks: [.liveLine(on: Console(output: { _ in }))]), defaults: defaults, display: display
            ).configuration.sinks
        }
        let view = PluginSpec("terminal", settings: ["colors": .text("light"), "bar_width": .integer(1)])
        #expect(try sinks([], on: .terminal) == [PluginSpec("web"), view])
        #expect(try sinks(["--line"], on: .terminal).map(\.id) == ["live-line", "web"])
        #expect(try sinks(["-o", "/tmp/a.csv"], on: .terminal).map(\.id) == ["csv", "web", "live-line"])
        #expect(try sinks([], on: .pipe).map(\.id) == ["json-lines", "web"])
        #expect(throws: Failure.self) { try DefaultsFile("sinks: ['terminal:colors=red']", path: "/a", title: "d.yaml", registry) }
    }

    // MARK: - check

    @Test func `analyze and run: the defaults file is not an argument of their plans`() throws {
        for name in ["analyze", "run", "beats", "replay", "render"] {
            #expect(throws: Failure.self) { try Root.parsed([name, "a", "--no-defaults"]) }
        }
    }
}

extension DefaultsFile.State {
    fileprivate var text: String {
        switch self {
        case .noPath: "no path"
        case .missing(let path): "missing \(path)"
        case .valid(let file): "valid \(file.path)"
        case .invalid(let path, _): "invalid \(path)"
        }
    }
}
