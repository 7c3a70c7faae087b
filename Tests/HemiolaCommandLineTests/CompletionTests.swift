import Hemiola
import HemiolaPlugins
import TestSupport
import Testing

@testable import HemiolaCommandLine

/// Candidates for completion. EndToEndTests test the scripts for the shells.
@Suite struct CompletionTests {
    private let completions = Completions(.standard)

    private func analyzers(_ prefix: String) -> [String] {
        completions.specs(prefix, PluginRegistry.standard.analyzers).filter { $0.hasPrefix(prefix) }
    }

    @Test func `start of a SPEC: plugin ids, with a colon if the plugin has settings`() {
        #expect(analyzers("") == PluginRegistry.standard.analyzers.map { $0.about.id + ($0.about.settings.isEmpty ? "" : ":") })
        #expect(analyzers("vis") == ["visualizer:"])
        #expect(analyzers("nothing").isEmpty)
    }

    @Test func `after the colon: values of the main setting, and keys`() {
        #expect(analyzers("visualizer:").contains("visualizer:milkdrop") && analyzers("visualizer:").contains("visualizer:profile="))
        #expect(analyzers("spectrum:ba") == ["spectrum:bands="])
        #expect(analyzers("spectrum:bands=3,") == analyzers("spectrum:bands=3,").filter { !$0.hasSuffix(",bands=") })
        #expect(analyzers("spectrum:bands=3,sc") == ["spectrum:bands=3,scale="])
        #expect(analyzers("nothing:").isEmpty)
    }

    @Test func `after =: the declared values of the setting`() {
        #expect(analyzers("spectrum:scale=mel") == ["spectrum:scale=mel-slaney", "spectrum:scale=mel-htk"])
        #expect(analyzers("spectrum:magnitudes=") == ["spectrum:magnitudes=true", "spectrum:magnitudes=false"])
        #expect(analyzers("spectrum:bands=").isEmpty)
    }
}
