internal import FileCapture
public import Hemiola
internal import JSONLinesSink
internal import LevelsAnalyzer
internal import PCMCapture
internal import SpectrumAnalyzer
internal import ToneCapture

extension PluginRegistry {
    /// The plugins that Hemiola comes with: the one list of built-ins.
    public static let standard = PluginRegistry(
        captures: [.file, .pcm, .tone], analyzers: [.levels, .spectrum], sinks: [.jsonLines],
        defaultAnalyzers: [PluginSpec("levels"), PluginSpec("spectrum")])
}
