import Hemiola
import HemiolaPlugins
import HemiolaRecords
import Testing

@Suite struct StandardDeclarationTests {
    private static let registry = PluginRegistry.standard

    @Test func `standard plugins: their declarations do not conflict`() {
        #expect(RecordSchema.conflicts(in: Self.registry.catalog).isEmpty)
    }

    @Test func `standard analyzers: no id is a key of the records`() {
        let keys = RecordSchema.reservedNames(Self.registry.catalog)
        for analyzer in Self.registry.analyzers { #expect(!keys.contains(analyzer.about.id)) }
    }
}
