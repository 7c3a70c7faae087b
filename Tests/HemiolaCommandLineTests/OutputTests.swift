import Hemiola
import HemiolaPlugins
import HemiolaSignal
import Testing

@testable import HemiolaCommandLine

@Suite struct OutputTests {
    private let stdout = PluginSpec("json-lines")

    @Test func `an output path takes the place of standard output`() throws {
        #expect(try configuration(["a", "-o", "x,y.jsonl"]).sinks == [PluginSpec("json-lines", primary: .text("x,y.jsonl"))])
        #expect(try configuration(["a", "-ox.jsonl"]).sinks == [PluginSpec("json-lines", primary: .text("x.jsonl"))])
        #expect(try configuration(["a", "-o", "-"]).sinks == [stdout])
    }

    @Test func `an output path goes to the sink that would write to standard output`() throws {
        let beats = PluginSpec("json-lines", primary: .text("x"), settings: ["select": .text("beat")])
        #expect(try configuration(["a", "-o", "x", "--sink", "json-lines:select=beat"]).sinks == [beats])
    }

    @Test func `a sink with a path of its own leaves standard output alone`() throws {
        let file = PluginSpec("json-lines", primary: .text("x"))
        #expect(try configuration(["a", "--sink", "json-lines:x"]).sinks == [file, stdout])
        let other = PluginSpec("json-lines", primary: .text("y"))
        #expect(try configuration(["a", "--sink", "json-lines:x", "-o", "y"]).sinks == [file, other])
    }

    @Test(arguments: ["json-lines:-", "json-lines:path=-"])
    func `a sink that names standard output keeps it beside an output path`(text: String) throws {
        let sinks = try configuration(["a", "--sink", text, "-o", "x"]).sinks
        #expect(sinks == [try PluginSpec(parsing: text), PluginSpec("json-lines", primary: .text("x"))])
    }

    @Test func `a sink on standard output is the only one there`() throws {
        #expect(try configuration(["a", "--sink", "json-lines"]).sinks == [stdout])
    }

    @Test func `quiet silences standard output only where another sink is named`() throws {
        let file = PluginSpec("json-lines", primary: .text("x"))
        #expect(try configuration(["a", "-q"]).sinks == [stdout])
        #expect(try configuration(["a", "-q", "--sink", "json-lines:x"]).sinks == [file])
        #expect(try configuration(["a", "-q", "--sink", "json-lines:x", "-o", "-"]).sinks == [file, stdout])
        #expect(try configuration(["a", "-q", "-o", "x"]).sinks == [file])
    }

    @Test func `whether records go to standard output is known`() throws {
        #expect(try plan(["a"]).usesStandardOutput)
        #expect(try !plan(["a", "-o", "x"]).usesStandardOutput)
        #expect(try plan(["a", "--sink", "json-lines:select=beat"]).usesStandardOutput)
    }

    @Test func `a sink of somebody else that takes no path cannot be given one`() throws {
        let shouting = SinkPlugin(
            "shout", "Writes to standard output.", needs: { _ in SinkPlugin.Needs(standardOutput: true) },
            make: { _ throws(ConfigurationError) in throw ConfigurationError("never made") })
        let registry = PluginRegistry.standard.adding(sinks: [shouting])
        #expect(try plan(["a", "--sink", "shout"], registry: registry).configuration.sinks == [PluginSpec("shout")])
        #expect(throws: Failure("--output: shout writes to standard output and takes no path; leave one out")) {
            _ = try plan(["a", "--sink", "shout", "-o", "x"], registry: registry)
        }
    }

    @Test func `a sound file is not overwritten`() throws {
        let file = try TemporaryFile([1, 2, 3])
        #expect(throws: Failure("\(file.path) is a sound file to be analysed and would be overwritten; write to another file")) {
            _ = try plan([file.path, "-o", file.path])
        }
    }
}
