internal import AudioSink
internal import BeatAnalyzer
internal import BeatsSink
internal import CSVSink
internal import ChordAnalyzer
internal import ChromaAnalyzer
internal import ConstantQAnalyzer
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

#if Network
    internal import LightsSink
    internal import LinkControlSource
    internal import LinkSink
    internal import MQTTSink
    internal import OS2LSink
    internal import OSCControlSource
    internal import OSCSink
    internal import SocketSink
    internal import WLEDSink
    internal import WebSink
#endif

extension PluginRegistry {
    /// The built-in plugins of Hemiola.
    public static let standard = PluginRegistry(
        captures: [.exec, .file, .pcm, .pulse, .tone],
        analyzers: [
            .levels, .loudness, .silence, .spectrum, .visualizer, .beat, .constantQ, .chroma, .musicalKey, .chords, .pitch, .structure,
            .vamp, .exec,
        ],
        sinks: ([.audio, .beats, .csv, .exec, .jsonLines, .midi, .notes, .picture, .presets, .summary] + networkSinks)
            .sorted { $0.about.id < $1.about.id },
        controls: ([.midi] + networkControls).sorted { $0.about.id < $1.about.id },
        defaultAnalyzers: [PluginSpec("levels"), PluginSpec("spectrum"), PluginSpec("visualizer"), PluginSpec("beat")],
        liveCapture: PluginSpec("pulse"))

    #if Network
        private static let networkSinks: [SinkPlugin] = [
            .artnet, .ddp, .link, .mqtt, .os2l, .osc, .sacn, .socket, .web, .wled,
        ]
        private static let networkControls: [ControlPlugin] = [.link, .osc]
    #else
        private static let networkSinks: [SinkPlugin] = []
        private static let networkControls: [ControlPlugin] = []
    #endif
}
