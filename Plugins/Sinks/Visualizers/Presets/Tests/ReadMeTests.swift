import Hemiola
import TestSupport
import Testing

@testable import PresetsSink

@Suite struct ReadMeTests {
    private let readMe: ReadMe

    init() throws {
        readMe = try ReadMe("Plugins/Sinks/Visualizers/Presets")
    }

    @Test func `the settings table matches the declared settings`() {
        #expect(readMe.settings(notQuotedFrom: SinkPlugin.presets.about) == [])
    }

    @Test func `the sample is a plan`() throws {
        let types = try readMe.records().map { try #require($0["type"] as? String) }
        #expect(types.first == "header" && types.last == "end" && types.contains("preset"))
        #expect(types.allSatisfy(PresetCycler.planRecords.contains))
    }

    @Test func `the example settings are valid`() throws {
        let specs = readMe.specs(of: "presets")
        #expect(specs.count >= 4)
        for spec in specs { _ = try SinkPlugin.presets.make(SinkPlugin.presets.about.values(parsing: spec)) }
    }
}
