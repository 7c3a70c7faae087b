import Foundation
import Hemiola
import Testing

@testable import HemiolaPlugins

@Suite struct StandardDeclarationTests {
    private static let registry = PluginRegistry.standard

    @Test func `standard plugins: their declarations do not conflict`() {
        #expect(RecordSchema.conflicts(in: Self.registry.catalog).isEmpty)
    }

    @Test func `standard analyzers: no id is a key of the records`() {
        let ids = Self.registry.analyzers.map(\.about.id)
        #expect(RecordSchema.conflicts(in: Self.registry.catalog, analyzers: ids).isEmpty)
    }

    @Test func `plugins that use the network: those of the trait Network, except the Unix socket and films`() {
        let (all, network) = (Self.registry, PluginRegistry.network)
        #expect(all.captures.allSatisfy { !$0.about.usesNetwork } && all.analyzers.allSatisfy { !$0.about.usesNetwork })
        #expect(Self.ids(all.sinks.filter(\.about.usesNetwork)) == Self.ids(network.sinks).subtracting(["film", "socket"]))
        #expect(Self.ids(all.controls.filter(\.about.usesNetwork)) == Self.ids(network.controls))
    }

    @Test func `README of the plugins: links every plugin of the registry, and no other`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "Plugins/README.md"), encoding: .utf8)
        let links = text.matches(of: /\[`([a-z0-9-]+)`\]\((Captures|Analyzers|Sinks|Controls)\//)
        func linked(_ folder: String) -> Set<String> { Set(links.filter { $0.2 == folder }.map { String($0.1) }) }
        #expect(linked("Captures") == Self.ids(Self.registry.captures))
        #expect(linked("Analyzers") == Self.ids(Self.registry.analyzers))
        #expect(linked("Sinks") == Self.ids(Self.registry.sinks))
        #expect(linked("Controls") == Self.ids(Self.registry.controls))
    }

    private static func ids<Kind: Plugin>(_ plugins: [Kind]) -> Set<String> { Set(plugins.map(\.about.id)) }
}
