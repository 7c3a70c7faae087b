internal import AudioSink
internal import BeatAnalyzer
internal import BeatsSink
internal import CSVSink
internal import ChordAnalyzer
internal import ChromaAnalyzer
internal import ConstantQAnalyzer
internal import CuesSink
internal import ExecAnalyzer
internal import ExecCapture
internal import ExecSink
internal import FileCapture
public import Hemiola
internal import HemiolaPictures
internal import JSONLinesSink
internal import LevelsAnalyzer
internal import LoudnessAnalyzer
internal import MIDIControlSource
internal import MIDISink
internal import MusicalKeyAnalyzer
internal import NotesSink
internal import PCMCapture
internal import PitchAnalyzer
internal import PresetsSink
internal import PulseCapture
internal import SilenceAnalyzer
internal import SpectrumAnalyzer
internal import StructureAnalyzer
internal import SummarySink
internal import ToneCapture
internal import VampAnalyzer
internal import VisualizerAnalyzer

extension PluginRegistry {
    /// The built-in plugins of Hemiola.
    public static let standard = PluginRegistry(
        captures: [.exec, .file, .pcm, .pulse, .tone],
        analyzers: [
            .levels, .loudness, .silence, .spectrum, .visualizer, .beat, .constantQ, .chroma, .musicalKey, .chords, .pitch, .structure,
            .vamp, .exec,
        ],
        sinks: ([.audio, .beats, .csv, .cues, .exec, .jsonLines, .midi, .notes, .picture, .presets, .summary] + network.sinks)
            .sorted { $0.about.id < $1.about.id },
        controls: ([.midi] + network.controls).sorted { $0.about.id < $1.about.id },
        defaultAnalyzers: [PluginSpec("levels"), PluginSpec("spectrum"), PluginSpec("visualizer"), PluginSpec("beat")],
        liveCapture: PluginSpec("pulse"))
}
