// swift-tools-version: 6.2
import PackageDescription

// The modules, layer by layer. A module imports only modules of lower layers; a plugin never imports a plugin; core modules name no
// plugin. Tests/ArchitectureTests checks every import.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// For modules that return spans of their own buffers, which need lifetime annotations.
let lifetimeSettings: [SwiftSetting] = settings + [.enableExperimentalFeature("Lifetimes")]

func module(_ name: String, uses dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = settings) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A C library: a header and a module map; for a library that is loaded on demand, also the functions that load it.
func cLibrary(_ name: String, isLoadedOnDemand: Bool = false) -> Target {
    isLoadedOnDemand ? .target(name: name) : .systemLibrary(name: name)
}

func plugin(_ name: String, at path: String, uses dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .target(
        name: name, dependencies: ["Hemiola", "HemiolaSignal"] + dependencies, path: "Plugins/\(path)", exclude: ["README.md"] + exclude,
        swiftSettings: settings)
}

func tests(_ name: String, uses dependencies: [Target.Dependency], resources: [Resource] = [], exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(name)", exclude: exclude, resources: resources,
        swiftSettings: settings)
}

let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
// SwiftNIO and the sinks that need it. A package that depends on this one with `traits: []` excludes them.
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Socket"]))
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Socket"]))
let nioHTTP: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Socket"]))
let nioWebSocket: Target.Dependency = .product(name: "NIOWebSocket", package: "swift-nio", condition: .when(traits: ["Socket"]))
let socketSink: Target.Dependency = .target(name: "SocketSink", condition: .when(traits: ["Socket"]))
let webSink: Target.Dependency = .target(name: "WebSink", condition: .when(traits: ["Socket"]))

let package = Package(
    name: "hemiola",
    products: [
        .executable(name: "hemiola", targets: ["HemiolaMain"]),
        .library(name: "Hemiola", targets: ["Hemiola", "HemiolaSignal"]),
        .library(name: "HemiolaEngine", targets: ["HemiolaEngine"]),
        .library(name: "HemiolaWire", targets: ["HemiolaWire"]),
        .library(name: "HemiolaOutput", targets: ["HemiolaOutput"]),
        .library(name: "HemiolaPictures", targets: ["HemiolaPictures"]),
        .library(name: "HemiolaSpectrum", targets: ["HemiolaSpectrum"]),
        .library(name: "HemiolaTonal", targets: ["HemiolaTonal"]),
        .library(name: "HemiolaBridge", targets: ["HemiolaBridge"]),
        .library(name: "HemiolaFieldMaps", targets: ["HemiolaFieldMaps"]),
        .library(name: "HemiolaNetwork", targets: ["HemiolaNetwork"]),
        .library(name: "HemiolaEvaluation", targets: ["HemiolaEvaluation"]),
        .library(name: "HemiolaTesting", targets: ["HemiolaTesting"]),
        .library(name: "HemiolaPlugins", targets: ["HemiolaPlugins"]),
        .library(name: "HemiolaCommandLine", targets: ["HemiolaCommandLine"]),
        // For hosts of Vamp plugins: packaging/build-vamp links it with the Swift runtime.
        .library(name: "HemiolaVamp", type: .dynamic, targets: ["HemiolaVamp"]),
    ],
    traits: [
        .default(enabledTraits: ["Socket"]),
        .trait(name: "Socket", description: "The sinks socket and web, for visualizers and other clients. They require SwiftNIO."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        // 6
        .executableTarget(
            name: "HemiolaMain", dependencies: ["HemiolaCommandLine", "HemiolaPlugins"], swiftSettings: settings),

        // 5
        module(
            "HemiolaCommandLine",
            uses: [
                "HemiolaEngine", "HemiolaForeign", "HemiolaPictures", "HemiolaVisualizer", "HemiolaWire", "HemiolaEvaluation",
                "HemiolaOutput", "HemiolaProcesses", "Hemiola", "HemiolaSignal", "CBuildRecord", "HemiolaFieldMaps", "HemiolaYAML",
                arguments,
            ]),

        // 4
        module(
            "HemiolaPlugins",
            uses: [
                "ExecCapture", "FileCapture", "PCMCapture", "PulseCapture", "ToneCapture", "LevelsAnalyzer", "LoudnessAnalyzer",
                "ChordAnalyzer", "ChromaAnalyzer", "ConstantQAnalyzer", "MusicalKeyAnalyzer", "PitchAnalyzer", "ExecAnalyzer",
                "SpectrumAnalyzer", "StructureAnalyzer", "VampAnalyzer", "VisualizerAnalyzer", "BeatAnalyzer", "AudioSink", "BeatsSink",
                "CSVSink", "ExecSink", "JSONLinesSink", "LightsSink", "LinkSink", "LinkControlSink", "MIDISink", "MIDIControlSink",
                "MQTTSink", "NotesSink", "OS2LSink", "OSCSink", "PresetsSink", "SummarySink", "WLEDSink", socketSink, webSink, "Hemiola",
            ]),
        module(
            "HemiolaEngine", uses: ["Hemiola", "HemiolaOutput", "HemiolaSpectrum", "HemiolaWire", "HemiolaSignal"],
            settings: lifetimeSettings),
        module(
            "HemiolaVamp",
            uses: [
                "BeatAnalyzer", "ChromaAnalyzer", "MusicalKeyAnalyzer", "SpectrumAnalyzer", "Hemiola", "HemiolaSpectrum", "HemiolaTonal",
                "HemiolaSignal", "CVamp",
            ]),

        // 3
        plugin("FileCapture", at: "Captures/File", uses: ["HemiolaProcesses", "HemiolaRIFF", "CSndFile"]),
        plugin("ExecCapture", at: "Captures/Exec", uses: ["HemiolaPCM", "HemiolaProcesses"]),
        plugin("PCMCapture", at: "Captures/PCM", uses: ["HemiolaPCM"]),
        plugin("PulseCapture", at: "Captures/Pulse", uses: ["CPulse"]),
        plugin("ToneCapture", at: "Captures/Tone"),
        plugin("BeatAnalyzer", at: "Analyzers/Beat", uses: ["CBeatWeights"]),
        plugin("ExecAnalyzer", at: "Analyzers/Exec", uses: ["HemiolaProcesses", "HemiolaWire"]),
        plugin("ChromaAnalyzer", at: "Analyzers/Chroma", uses: ["HemiolaTonal"]),
        plugin("ChordAnalyzer", at: "Analyzers/Chords", uses: ["HemiolaTonal"]),
        plugin("ConstantQAnalyzer", at: "Analyzers/ConstantQ", uses: ["HemiolaTonal"]),
        plugin("PitchAnalyzer", at: "Analyzers/Pitch", uses: ["HemiolaTonal", "HemiolaSpectrum"]),
        plugin("LevelsAnalyzer", at: "Analyzers/Levels"),
        plugin("LoudnessAnalyzer", at: "Analyzers/Loudness", uses: ["CEBUR128"]),
        plugin("MusicalKeyAnalyzer", at: "Analyzers/MusicalKey", uses: ["HemiolaTonal"]),
        plugin("SpectrumAnalyzer", at: "Analyzers/Spectrum", uses: ["HemiolaSpectrum"]),
        plugin("StructureAnalyzer", at: "Analyzers/Structure", uses: ["HemiolaTonal"]),
        plugin("VampAnalyzer", at: "Analyzers/Vamp", uses: ["HemiolaForeign", "HemiolaProcesses"]),
        plugin("VisualizerAnalyzer", at: "Analyzers/Visualizer", uses: ["HemiolaSpectrum"]),
        plugin("AudioSink", at: "Sinks/Audio", uses: ["HemiolaOutput", "CSndFile"]),
        plugin("BeatsSink", at: "Sinks/Beats", uses: ["HemiolaOutput", "HemiolaWire"]),
        plugin("CSVSink", at: "Sinks/CSV", uses: ["HemiolaOutput", "HemiolaWire"]),
        plugin("ExecSink", at: "Sinks/Exec", uses: ["HemiolaProcesses", "HemiolaWire"]),
        plugin("JSONLinesSink", at: "Sinks/JSONLines", uses: ["HemiolaOutput"]),
        plugin("LinkSink", at: "Sinks/Link", uses: ["HemiolaLink", "HemiolaNetwork", "HemiolaOutput"]),
        plugin("LinkControlSink", at: "Sinks/LinkControl", uses: ["HemiolaLink", "HemiolaNetwork", "HemiolaOutput"]),
        plugin("MIDISink", at: "Sinks/MIDI", uses: ["HemiolaFieldMaps", "HemiolaOutput", "CALSA"]),
        plugin("MIDIControlSink", at: "Sinks/MIDIControl", uses: ["HemiolaFieldMaps", "HemiolaOutput"]),
        plugin("MQTTSink", at: "Sinks/MQTT", uses: ["HemiolaFieldMaps", "HemiolaNetwork", "HemiolaWire", "CMosquitto"]),
        plugin(
            "OSCSink", at: "Sinks/OSC", uses: ["HemiolaFieldMaps", "HemiolaNetwork", "HemiolaOutput"], exclude: ["Control/README.md"]),
        plugin(
            "LightsSink", at: "Sinks/Lights", uses: ["HemiolaFieldMaps", "HemiolaNetwork", "HemiolaOutput"],
            exclude: ["DDP/README.md", "SACN/README.md", "ArtNet/README.md"]),
        plugin("WLEDSink", at: "Sinks/WLED", uses: ["HemiolaNetwork", "HemiolaOutput"]),
        plugin("NotesSink", at: "Sinks/Notes", uses: ["HemiolaOutput", "HemiolaTonal", "HemiolaWire"]),
        plugin("OS2LSink", at: "Sinks/OS2L", uses: ["HemiolaNetwork", "HemiolaOutput", "HemiolaVisualizer", "HemiolaWire"]),
        plugin("PresetsSink", at: "Sinks/Presets", uses: ["HemiolaOutput", "HemiolaVisualizer"]),
        plugin("SummarySink", at: "Sinks/Summary", uses: ["HemiolaOutput", "HemiolaWire"]),
        plugin("SocketSink", at: "Sinks/Socket", uses: ["HemiolaBridge", "HemiolaVisualizer"]),
        plugin(
            "WebSink", at: "Sinks/Web", uses: ["HemiolaBridge", "HemiolaProcesses", "HemiolaVisualizer", "CQREncode", "CWebPage"],
            exclude: ["Page", "Pictures"]),
        module("HemiolaTesting", uses: ["Hemiola", "HemiolaSpectrum", "HemiolaSignal"]),

        // 2
        module("HemiolaForeign", uses: ["Hemiola", "HemiolaSignal", "CVamp"]),
        module("HemiolaLink", uses: ["Hemiola", "HemiolaSignal", "CAbletonLink"]),
        module("HemiolaOutput", uses: ["Hemiola", "HemiolaWire", "HemiolaSignal", "CZstd"]),
        module("HemiolaPCM", uses: ["Hemiola", "HemiolaRIFF", "HemiolaSignal"]),
        module("HemiolaProcesses", uses: ["Hemiola", "HemiolaSignal"]),
        module("HemiolaPictures", uses: ["HemiolaSpectrum", "HemiolaSignal", "CCairo"]),
        module(
            "HemiolaBridge",
            uses: ["Hemiola", "HemiolaVisualizer", "HemiolaWire", "HemiolaSignal", nioCore, nioPosix, nioHTTP, nioWebSocket]),

        module("HemiolaFieldMaps", uses: ["Hemiola", "HemiolaYAML", "HemiolaSignal", "CFieldMaps"]),
        module("HemiolaNetwork", uses: ["Hemiola", "HemiolaVisualizer", "HemiolaSignal"]),

        // 1
        module("Hemiola", uses: ["HemiolaSignal"]),
        module("HemiolaYAML", uses: ["HemiolaSignal", "CYAML"]),
        module("HemiolaTonal", uses: ["HemiolaSignal"], settings: lifetimeSettings),
        module("HemiolaVisualizer", uses: ["HemiolaSignal"]),
        module("HemiolaSpectrum", uses: ["HemiolaSignal", "CFFTW"], settings: lifetimeSettings),
        module("HemiolaEvaluation"),
        module("HemiolaRIFF", uses: ["HemiolaSignal"]),
        module("HemiolaWire", uses: ["HemiolaSignal"]),

        // 0
        module("HemiolaSignal", settings: lifetimeSettings),
        // Ableton Link's C++ headers, compiled into the program where they are installed.
        .target(name: "CAbletonLink"),
        cLibrary("CALSA", isLoadedOnDemand: true),
        cLibrary("CCairo", isLoadedOnDemand: true),
        cLibrary("CEBUR128", isLoadedOnDemand: true),
        cLibrary("CFFTW"),
        cLibrary("CMosquitto", isLoadedOnDemand: true),
        cLibrary("CPulse", isLoadedOnDemand: true),
        cLibrary("CQREncode", isLoadedOnDemand: true),
        cLibrary("CSndFile"),
        cLibrary("CVamp"),
        cLibrary("CYAML", isLoadedOnDemand: true),
        cLibrary("CZstd", isLoadedOnDemand: true),
        // Field maps, compiled into the program.
        .target(name: "CFieldMaps", exclude: ["Maps"]),
        // The files of Plugins/Sinks/Web/Page, compiled into the program.
        .target(name: "CWebPage"),
        // The commit and the compiler, which packaging/build records in the program.
        .target(name: "CBuildRecord"),
        // The weights of the beat networks, compiled into the program.
        .target(name: "CBeatWeights", exclude: ["DATA.md", "beats-causal.bin", "beats-whole-file.bin"]),

        // Tests
        .target(
            name: "References", path: "Tests/References",
            exclude: [
                "README.md", "make", "make_vectors.py", "make_tonal_vectors.py", "requirements.txt", "vectors.json", "tonal.json",
                "input.wav", "input-stereo.wav",
            ],
            swiftSettings: settings),
        .target(
            name: "AnalysisSupport", dependencies: ["HemiolaEngine", "HemiolaTesting", "TestSupport", "Hemiola", "HemiolaSignal"],
            path: "Tests/SpectrumAnalyzerTests/Support", swiftSettings: settings),
        .target(
            name: "BridgeSupport", dependencies: ["TestSupport", "HemiolaVisualizer", "Hemiola", "HemiolaSignal"],
            path: "Tests/SocketSinkTests/Support", swiftSettings: settings),
        .target(
            name: "TestSupport", dependencies: ["Hemiola", nioCore, nioPosix, nioHTTP, nioWebSocket], path: "Tests/TestSupport",
            swiftSettings: settings),
        .target(name: "AllocationCounter", path: "Tests/AllocationCounter"),
        tests("ArchitectureTests", uses: []),
        tests("HemiolaSignalTests", uses: ["HemiolaTesting", "HemiolaSignal"]),
        tests("HemiolaTests", uses: ["HemiolaVisualizer", "Hemiola", "HemiolaSignal"]),
        tests("HemiolaSpectrumTests", uses: ["AnalysisSupport", "References", "HemiolaSpectrum", "HemiolaSignal"]),
        tests(
            "HemiolaEvaluationTests", uses: ["HemiolaEvaluation"], resources: [.process("cases.json")],
            exclude: ["make_cases.py"]),
        tests("HemiolaTonalTests", uses: ["References", "HemiolaTonal", "HemiolaSpectrum", "HemiolaSignal"]),
        tests("HemiolaFieldMapsTests", uses: ["HemiolaFieldMaps", "HemiolaTesting", "TestSupport", "Hemiola", "HemiolaSignal"]),
        tests("HemiolaYAMLTests", uses: ["HemiolaYAML", "TestSupport", "Hemiola", "HemiolaSignal"]),
        tests("HemiolaRIFFTests", uses: ["HemiolaRIFF", "HemiolaSignal"]),
        tests("HemiolaWireTests", uses: ["HemiolaVisualizer", "HemiolaWire", "HemiolaSignal"]),
        tests("HemiolaOutputTests", uses: ["HemiolaOutput", "TestSupport", "Hemiola", "HemiolaSignal"]),
        tests("HemiolaPicturesTests", uses: ["HemiolaPictures", "HemiolaSignal"]),
        tests(
            "HemiolaBridgeTests",
            uses: ["HemiolaVisualizer", "HemiolaBridge", "HemiolaWire", "Hemiola", "HemiolaSignal", nioCore, nioPosix]),
        tests(
            "HemiolaEngineTests",
            uses: [
                "HemiolaVisualizer",
                "HemiolaEngine", "HemiolaTesting", "BeatAnalyzer", "ChordAnalyzer", "ChromaAnalyzer", "ConstantQAnalyzer", "LevelsAnalyzer",
                "LoudnessAnalyzer", "MusicalKeyAnalyzer", "PitchAnalyzer", "SpectrumAnalyzer", "StructureAnalyzer",
                "VisualizerAnalyzer", "HemiolaSpectrum", "TestSupport", "Hemiola", "HemiolaSignal", "AllocationCounter",
            ]),
        tests("FileCaptureTests", uses: ["FileCapture", "TestSupport", "Hemiola", "HemiolaSignal"]),
        tests(
            "ExecCaptureTests",
            uses: ["ExecCapture", "HemiolaProcesses", "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSignal"]),
        tests("PCMCaptureTests", uses: ["PCMCapture", "HemiolaPCM", "TestSupport", "Hemiola", "HemiolaSignal"]),
        tests("PulseCaptureTests", uses: ["PulseCapture", "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSignal"]),
        tests("ToneCaptureTests", uses: ["ToneCapture", "TestSupport", "Hemiola", "HemiolaSignal"]),
        tests(
            "BeatAnalyzerTests",
            uses: [
                "AnalysisSupport", "TestSupport", "BeatAnalyzer", "HemiolaEngine", "HemiolaTesting", "Hemiola", "HemiolaSignal",
                "CBeatWeights",
            ],
            resources: [.process("vectors.bin")]),
        tests(
            "ChromaAnalyzerTests",
            uses: ["AnalysisSupport", "TestSupport", "HemiolaTesting", "References", "ChromaAnalyzer", "Hemiola", "HemiolaSignal"]),
        tests(
            "ChordAnalyzerTests",
            uses: [
                "AnalysisSupport", "TestSupport", "HemiolaTesting", "References", "ChordAnalyzer", "HemiolaTonal", "Hemiola",
                "HemiolaSignal",
            ]),
        tests(
            "MusicalKeyAnalyzerTests",
            uses: [
                "AnalysisSupport", "TestSupport", "HemiolaTesting", "References", "MusicalKeyAnalyzer", "HemiolaTonal", "Hemiola",
                "HemiolaSignal",
            ]),
        tests(
            "ConstantQAnalyzerTests",
            uses: ["AnalysisSupport", "TestSupport", "HemiolaTesting", "References", "ConstantQAnalyzer", "Hemiola", "HemiolaSignal"]),
        tests(
            "PitchAnalyzerTests",
            uses: [
                "AnalysisSupport", "TestSupport", "HemiolaTesting", "References", "PitchAnalyzer", "HemiolaTonal", "HemiolaSpectrum",
                "Hemiola", "HemiolaSignal",
            ]),
        tests(
            "LevelsAnalyzerTests",
            uses: ["AnalysisSupport", "TestSupport", "HemiolaTesting", "References", "LevelsAnalyzer", "Hemiola", "HemiolaSignal"]),
        tests(
            "LoudnessAnalyzerTests",
            uses: [
                "AnalysisSupport", "TestSupport", "HemiolaTesting", "LoudnessAnalyzer", "Hemiola", "HemiolaSignal",
            ]),
        tests(
            "SpectrumAnalyzerTests",
            uses: ["AnalysisSupport", "TestSupport", "HemiolaTesting", "References", "SpectrumAnalyzer", "Hemiola", "HemiolaSignal"],
            exclude: ["Support"]),
        tests(
            "StructureAnalyzerTests",
            uses: [
                "AnalysisSupport", "TestSupport", "HemiolaEngine", "HemiolaTesting", "StructureAnalyzer", "Hemiola", "HemiolaSignal",
            ]),
        tests(
            "VampAnalyzerTests",
            uses: [
                "AnalysisSupport", "TestSupport", "BeatAnalyzer", "ChromaAnalyzer", "HemiolaEngine", "HemiolaForeign", "HemiolaTesting",
                "MusicalKeyAnalyzer", "SpectrumAnalyzer", "VampAnalyzer", "Hemiola", "HemiolaSignal",
            ],
            exclude: ["Libraries", "reference-host.cpp", "careless-host.c"]),
        tests(
            "VisualizerAnalyzerTests",
            uses: ["VisualizerAnalyzer", "FileCapture", "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSpectrum", "HemiolaSignal"]),
        tests(
            "AudioSinkTests",
            uses: [
                "AudioSink", "FileCapture", "LevelsAnalyzer", "HemiolaEngine", "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSignal",
            ]),
        tests("BeatsSinkTests", uses: ["BeatsSink", "TestSupport", "Hemiola", "HemiolaSignal"]),
        tests(
            "MIDISinkTests",
            uses: [
                "MIDISink", "BeatAnalyzer", "LevelsAnalyzer", "ToneCapture", "HemiolaEngine", "HemiolaOutput", "TestSupport",
                "HemiolaTesting", "Hemiola",
                "HemiolaSignal",
            ]),
        tests(
            "MIDIControlTests",
            uses: [
                "MIDIControlSink", "BeatAnalyzer", "ToneCapture", "HemiolaEngine", "HemiolaFieldMaps", "HemiolaOutput", "HemiolaVisualizer",
                "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSignal",
            ]),
        tests(
            "LinkSinkTests",
            uses: [
                "LinkSink", "LinkControlSink", "HemiolaLink", "BeatAnalyzer", "ToneCapture", "HemiolaEngine", "TestSupport",
                "HemiolaTesting", "Hemiola", "HemiolaSignal",
            ]),
        tests("NotesSinkTests", uses: ["NotesSink", "HemiolaTonal", "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSignal"]),
        tests(
            "OS2LSinkTests",
            uses: ["OS2LSink", "HemiolaVisualizer", "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSignal"], exclude: ["qlcplus.qxw"]),
        tests("MQTTSinkTests", uses: ["MQTTSink", "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSignal"]),
        tests("HemiolaNetworkTests", uses: ["HemiolaNetwork", "TestSupport", "Hemiola", "HemiolaSignal"]),
        tests(
            "OSCSinkTests",
            uses: [
                "OSCSink", "BeatAnalyzer", "LevelsAnalyzer", "ToneCapture", "HemiolaEngine", "HemiolaNetwork", "HemiolaVisualizer",
                "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSignal",
            ]),
        tests("WLEDSinkTests", uses: ["WLEDSink", "HemiolaNetwork", "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSignal"]),
        tests(
            "LightsSinkTests",
            uses: ["LightsSink", "HemiolaFieldMaps", "HemiolaNetwork", "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSignal"]),
        tests("CSVSinkTests", uses: ["HemiolaVisualizer", "CSVSink", "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSignal"]),
        tests(
            "ExecAnalyzerTests",
            uses: [
                "ExecAnalyzer", "LevelsAnalyzer", "HemiolaEngine", "HemiolaProcesses", "HemiolaWire", "TestSupport", "HemiolaTesting",
                "Hemiola", "HemiolaSignal",
            ]),
        tests(
            "ExecSinkTests",
            uses: ["ExecSink", "JSONLinesSink", "TestSupport", "HemiolaTesting", "HemiolaProcesses", "Hemiola", "HemiolaSignal"]),
        tests("HemiolaProcessesTests", uses: ["HemiolaProcesses", "TestSupport", "Hemiola", "HemiolaSignal"]),
        tests(
            "JSONLinesSinkTests",
            uses: ["HemiolaVisualizer", "JSONLinesSink", "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSignal", "AllocationCounter"]),
        tests(
            "PresetsSinkTests",
            uses: [
                "HemiolaVisualizer",
                "PresetsSink", "FileCapture", "BeatAnalyzer", "LevelsAnalyzer", "VisualizerAnalyzer", "JSONLinesSink", "TestSupport",
                "HemiolaEngine", "HemiolaTesting", "Hemiola", "HemiolaSignal", "AllocationCounter",
            ]),
        tests(
            "SummarySinkTests",
            uses: ["SummarySink", "HemiolaWire", "TestSupport", "HemiolaTesting", "Hemiola", "HemiolaSignal"]),
        tests(
            "SocketSinkTests",
            uses: ["SocketSink", "BridgeSupport", "TestSupport", "HemiolaTesting", "HemiolaVisualizer", "Hemiola", "HemiolaSignal"],
            exclude: ["Support"]),
        tests(
            "WebSinkTests",
            uses: [
                "WebSink", "BridgeSupport", "TestSupport", "HemiolaTesting", "HemiolaVisualizer", "HemiolaBridge", "Hemiola",
                "HemiolaSignal",
            ]),
        tests(
            "EndToEndTests", uses: ["HemiolaMain", "HemiolaTesting", "HemiolaSignal", "TestSupport"], exclude: ["Scripts"]),
        tests("BrowserTests", uses: ["HemiolaMain", "TestSupport"], exclude: ["Page"]),
        tests(
            "HemiolaCommandLineTests",
            uses: [
                "HemiolaVisualizer",
                "HemiolaCommandLine", "HemiolaPlugins", "HemiolaEngine", "HemiolaWire", "TestSupport", "Hemiola", "HemiolaSignal",
                arguments,
            ]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
