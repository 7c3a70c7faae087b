import HemiolaPlugins
import Testing

@testable import HemiolaCommandLine

@Suite struct SchemaCommandTests {
    private func text(_ options: String...) throws -> String {
        try command(SchemaCommand.self, options).text(with: .standard)
    }

    @Test func `a selection leaves only what it names`() throws {
        let all = try text("--select", "batch+end")
        #expect(all.contains("\"bands_db\"") && all.contains("\"peak_db\""))
        let one = try text("--select", "levels.rms_db")
        #expect(one.contains("\"rms_db\""))
        #expect(!one.contains("\"bands_db\"") && !one.contains("\"peak_db\"") && !one.contains("\"non_finite\""))
    }

    @Test func `a selection of what there is not is refused`() throws {
        let failure = try #require(throws: Failure.self) { try text("--select", "levels.rms_bd") }
        #expect(failure.lines.count == 1)
        #expect(failure.lines[0].contains("did you mean levels.rms_db?"), "\(failure.lines)")
    }
}
