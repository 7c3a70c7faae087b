import Foundation
import Hemiola
import HemiolaEngine
import HemiolaPlugins
import HemiolaVisualizer
import Testing
import VampAnalyzer

@testable import HemiolaCommandLine

@Suite struct PluginPageTests {
    private static let pages = PluginPage.all(of: .standard)

    private func text(_ arguments: String...) throws -> String {
        try command(PluginsCommand.self, arguments).text(with: .standard)
    }

    @Test func `list: all plugins, grouped by role`() throws {
        let lines = try text().split(separator: "\n").map(String.init)
        for about in PluginRegistry.standard.declarations {
            #expect(lines.count { $0.hasPrefix("  \(about.id) ") && $0.hasSuffix(about.summary) } == 1)
        }
        let roles = ["captures", "analyzers", "sinks", "control sources"]
        #expect(lines.filter { roles.contains($0) } == roles)
    }

    @Test func `page: settings, examples, outputs, latency, causality`() throws {
        let page = try text("spectrum")
        let version = try #require(Self.pages.first { $0.about.id == "spectrum" }).about.version
        #expect(page.hasPrefix("spectrum: an analyzer, version \(version)\n"))
        #expect(page.contains("  size        64...65536 frames, whole; default 2048\n"))
        #expect(page.contains("  max_hz      1...192000 Hz; default unset\n"))
        #expect(page.contains("  bands_db     64 values, dBFS, -120...\n"))
        #expect(page.contains("Latency  1024 frames\nCausal   yes\n"))
        #expect(page.contains("  spectrum:size=2048"))
        #expect(try text("levels").contains("Settings\n  None.\n"))
        #expect(try text("levels").contains("channel_rms_db   2 values, dBFS, -120..."))
        #expect(try text("json-lines").contains("Settings of every sink\n  select "))
        #expect(try text("json-lines").contains("path is the main setting"))
    }

    @Test func `page: a setting in an example is one that the main setting uses`() throws {
        let page = try text("tone")
        #expect(page.contains("\n  tone\n  tone:clicks\n  tone:sine,hz=440\n"))
        #expect(try text("visualizer").contains("\n  visualizer\n  visualizer:milkdrop\n  visualizer:butterchurn,bars=16\n"))
    }

    @Test func `page by an alias: that of the plugin, which names its aliases`() throws {
        #expect(try text("ddp") == text("lights") && text("ddp").contains("\n  ddp stands for lights:protocol=ddp\n"))
    }

    @Test func `page of an analyzer that loads a model: has its outputs`() throws {
        let plugin = AnalyzerPlugin(PluginDescription("modelled", "Loads a model."), settings: NoSettings.self) { _ throws(Problem) in
            Modelled()
        }
        let page = try #require(PluginPage.all(of: PluginRegistry(analyzers: [plugin])).first)
        #expect(page.text(columns: 80).contains("\nOutputs for 48000 Hz and 2 channels\n"))
    }

    @Test func `page of a plugin with records and controls: lists them with their fields`() throws {
        let page = try text("presets")
        #expect(page.contains("\nRecords\n  preset  "))
        #expect(page.contains("\nControls\n"))
        let fields = try #require(RecordCatalog(controls: [.setSpeed]).control("setSpeed")).fields
        #expect(page.contains("  setSpeed"))
        for field in fields { #expect(page.contains("    \(field.name)  0.1...1\n")) }
        #expect(try text("socket").contains("\nControls handled only if no other plugin of the pipeline handles them\n"))
        #expect(try !text("levels").contains("\nRecords\n"))
    }

    @Test func `page as JSON: has the declared records and controls`() throws {
        let all = try #require(JSONSerialization.jsonObject(with: Data(text("presets", "--json").utf8)) as? [[String: Any]])
        let page = try #require(all.first)
        let records = try #require(page["records"] as? [[String: Any]])
        #expect(records.map { $0["name"] as? String } == ["preset", "page_preset", "speed"])
        let controls = try #require(page["controls"] as? [[String: Any]])
        let speed = try #require(controls.first { $0["name"] as? String == "setSpeed" })
        let field = try #require((speed["fields"] as? [[String: Any]])?.first)
        #expect(field["name"] as? String == "speed")
        #expect(field["type"] as? String == "number")
        #expect(field["maximum"] as? Double == 1)
    }

    @Test func `page: lines fit the terminal`() {
        for page in Self.pages {
            #expect(page.text(columns: 60).split(separator: "\n").filter { $0.hasPrefix("     ") }.allSatisfy { $0.count <= 60 })
        }
    }

    @Test func `examples on pages: accepted by the command line`() throws {
        #expect(Self.pages.allSatisfy { !$0.examples.isEmpty })
        // This process is no hemiola, which would start itself.
        let registry = PluginRegistry.standard.adding(analyzers: [.vampHost])
        for page in Self.pages {
            for example in page.examples {
                let spec = try PluginSpec(parsing: example)
                var configuration = PipelineConfiguration(captures: [PluginSpec("tone")])
                switch page.role {
                case .capture: configuration.captures = [spec]
                case .analyzer: configuration.analyzers = [spec]
                case .sink: configuration.sinks = [spec]
                case .control: configuration.controls = [spec]
                }
                do {
                    _ = try registry.assemble(configuration)
                } catch {
                    // The examples of vamp name a library that need not be installed, and a placeholder for a program.
                    let reasons = [
                        "there is no Vamp library \"vamp-example-plugins\" in ", "vamp-example-plugins:percussiononsets has no program",
                    ]
                    #expect(reasons.contains { "\(error)".hasPrefix("analyzers[0]: \($0)") }, "\(error)")
                }
            }
        }
    }

    @Test func `JSON: same content as the text`() throws {
        let objects = try #require(try JSONSerialization.jsonObject(with: Data(text("--json").utf8)) as? [[String: Any]])
        #expect(objects.map { $0["id"] as? String } == Self.pages.map(\.about.id))
        let page = try #require(objects.first { $0["id"] as? String == "spectrum" })
        let settings = try #require(page["settings"] as? [[String: Any]])
        let size = try #require(settings.first)
        #expect(size["key"] as? String == "size" && size["type"] as? String == "integer" && size["unit"] as? String == "frames")
        #expect(size["minimum"] as? Double == 64 && size["maximum"] as? Double == 65_536 && size["default"] as? Int == 2048)
        #expect(page["latency_frames"] as? Int == 1024 && page["causal"] as? Bool == true)
        let outputs = try #require(page["outputs"] as? [[String: Any]])
        #expect(outputs.first?["name"] as? String == "bands_db" && outputs.first?["count"] as? Int == 64)
        let one = try #require(try JSONSerialization.jsonObject(with: Data(text("tone", "--json").utf8)) as? [[String: Any]])
        #expect(one.count == 1)
    }

    @Test func `id of a sink and of a control source: both pages; ID-control: that of the control source`() throws {
        let page = try text("osc")
        #expect(page.hasPrefix("osc: a sink, version ") && page.contains("\nosc: a control source, version "))
        #expect(page.contains("\nSettings of every control source\n  on_error "))
        let objects = try #require(try JSONSerialization.jsonObject(with: Data(text("osc", "--json").utf8)) as? [[String: Any]])
        #expect(objects.map { $0["role"] as? String } == ["sink", "control"])
        #expect(try text("osc-control").hasPrefix("osc: a control source, version "))
    }

    @Test func `unknown name: suggests the nearest`() {
        #expect(throws: Failure("unknown plugin \"spectrm\"; did you mean spectrum?")) { try text("spectrm") }
    }
}

/// An analyzer that refuses every stream until its model is loaded.
private final class Modelled: Analyzer {
    private var isLoaded = false

    func load() throws(Problem) { isLoaded = true }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        guard isLoaded else { throw Problem("there is no model") }
        return AnalyzerOutputs()
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {}
}
