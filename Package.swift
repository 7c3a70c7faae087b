// swift-tools-version: 6.2
import PackageDescription

// The modules, layer by layer. A module uses only modules of lower layers; a plugin never uses a plugin, and core modules use none.
// scripts/test builds with --explicit-target-dependency-import-check: a module imports only what it lists here.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// For modules that return spans of their own buffers, which need lifetime annotations.
let lifetimeSettings: [SwiftSetting] = settings + [.enableExperimentalFeature("Lifetimes")]

/// For tests that compute little, which run once after they are compiled: without optimisation that takes half of the time. What they test is
/// optimised.
let testSettings: [SwiftSetting] = settings + [.unsafeFlags(["-Onone"])]

func module(
    _ name: String, at path: String? = nil, uses dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = settings
) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

/// A C library: a header and a module map; for a library that is loaded on demand, also the functions that load it.
func cLibrary(_ name: String, isLoadedOnDemand: Bool = false) -> Target {
    isLoadedOnDemand ? .target(name: name, path: "Libraries/\(name)") : .systemLibrary(name: name, path: "Libraries/\(name)")
}

/// Files and constants in C, compiled into the program.
func data(_ name: String, exclude: [String] = []) -> Target {
    .target(name: name, path: "Libraries/\(name)", exclude: exclude)
}

/// A plugin: its folder below Plugins/, with a README. Its tests are in the folder's Tests/, and use what it uses.
///
/// - Parameters:
///   - tests: What only the tests use; nil: it has no tests of its own.
///   - exclude: Files of the folder that are neither sources nor its README.
///   - testData: Files of Tests/ that are not sources.
///   - resources: Files of Tests/ that the tests read.
func plugin(
    _ name: String, at path: String, uses dependencies: [Target.Dependency] = [], exclude: [String] = [],
    tests: [Target.Dependency]? = [], testData: [String] = [], resources: [Resource] = []
) -> [Target] {
    let common: [Target.Dependency] = ["Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]
    let plugin = Target.target(
        name: name, dependencies: common + dependencies, path: "Plugins/\(path)",
        exclude: ["README.md"] + exclude + (tests == nil ? [] : ["Tests"]), swiftSettings: settings)
    guard let tests else { return [plugin] }
    let helpers: [Target.Dependency] = [.target(name: name), "AnalysisSupport", "HemiolaTesting", "References", "TestSupport"]
    return [
        plugin,
        .testTarget(
            name: name + "Tests", dependencies: common + dependencies + helpers + tests, path: "Plugins/\(path)/Tests", exclude: testData,
            resources: resources, swiftSettings: path.hasPrefix("Sinks") || path.hasPrefix("Controls") ? testSettings : settings),
    ]
}

/// Tests of a module, or of the whole program.
func tests(
    _ name: String, at folder: String? = nil, uses dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(folder ?? name)", exclude: exclude, resources: resources,
        swiftSettings: testSettings)
}

/// What several tests use: a folder of Tests/.
func testSupport(_ name: String, at folder: String, uses dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(folder)", exclude: exclude, swiftSettings: settings)
}

let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Network"]))
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Network"]))
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["Network"]))
let nioHTTP: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Network"]))
let nioWebSocket: Target.Dependency = .product(name: "NIOWebSocket", package: "swift-nio", condition: .when(traits: ["Network"]))

// The plugins: layer 3. Each is a line here and two in Sources/HemiolaPlugins, an import and an entry of a list.
let plugins: [[Target]] = [
    plugin("ExecCapture", at: "Captures/Exec", uses: ["HemiolaPCM"]),
    plugin(
        "FileCapture", at: "Captures/File",
        uses: ["HemiolaPCM", "CFLAC", "CMPG123", "CSndFile", "CXiph"]),
    plugin("PCMCapture", at: "Captures/PCM", uses: ["HemiolaPCM"]),
    plugin("PulseCapture", at: "Captures/Pulse", uses: ["CPulse"]),
    plugin("ToneCapture", at: "Captures/Tone"),
    plugin("BeatAnalyzer", at: "Analyzers/Beat", uses: ["CBeatWeights"], tests: ["HemiolaEngine"], resources: [.process("vectors.bin")]),
    plugin("ChordAnalyzer", at: "Analyzers/Chords", uses: ["HemiolaTonal"]),
    plugin("ChromaAnalyzer", at: "Analyzers/Chroma", uses: ["HemiolaTonal"]),
    plugin("ConstantQAnalyzer", at: "Analyzers/ConstantQ", uses: ["HemiolaTonal"]),
    plugin("ExecAnalyzer", at: "Analyzers/Exec", tests: ["LevelsAnalyzer", "HemiolaEngine"]),
    plugin("LevelsAnalyzer", at: "Analyzers/Levels"),
    plugin("LoudnessAnalyzer", at: "Analyzers/Loudness", uses: ["CEBUR128"]),
    plugin("MusicalKeyAnalyzer", at: "Analyzers/Key", uses: ["HemiolaTonal"]),
    plugin("PitchAnalyzer", at: "Analyzers/Pitch", uses: ["HemiolaTonal"]),
    plugin("SilenceAnalyzer", at: "Analyzers/Silence"),
    plugin("SpectrumAnalyzer", at: "Analyzers/Spectrum"),
    plugin("StructureAnalyzer", at: "Analyzers/Structure", uses: ["HemiolaTonal"]),
    plugin(
        "VampAnalyzer", at: "Analyzers/Vamp", uses: ["CVamp"],
        tests: ["BeatAnalyzer", "ChromaAnalyzer", "HemiolaEngine", "MusicalKeyAnalyzer", "SpectrumAnalyzer"],
        testData: ["Libraries", "reference-host.cpp", "careless-host.c"]),
    plugin("VisualizerAnalyzer", at: "Analyzers/Visualizer", tests: ["FileCapture"]),
    plugin(
        "AudioSink", at: "Sinks/Files/Audio", uses: ["HemiolaFiles", "HemiolaPCM", "CSndFile"],
        tests: ["FileCapture", "LevelsAnalyzer", "HemiolaEngine"]),
    plugin("BeatsSink", at: "Sinks/Files/Beats", uses: ["HemiolaFiles", "HemiolaMIDI", "HemiolaPCM"]),
    plugin("FilmSink", at: "Sinks/Files/Film", uses: ["HemiolaBridge", "HemiolaFiles", "HemiolaVisualizer"], exclude: ["Pictures"]),
    plugin("CSVSink", at: "Sinks/Files/CSV", uses: ["HemiolaFiles"], tests: ["HemiolaVisualizer"]),
    plugin("CuesSink", at: "Sinks/Files/Cues", uses: ["HemiolaFiles"], tests: ["LoudnessAnalyzer", "SilenceAnalyzer", "HemiolaEngine"]),
    plugin("JSONLinesSink", at: "Sinks/Files/JSONLines", uses: ["HemiolaFiles"], tests: ["AllocationCounter", "HemiolaVisualizer"]),
    plugin("HemiolaPictures", at: "Sinks/Files/Picture", uses: ["HemiolaFiles", "HemiolaTonal", "CCairo"]),
    plugin("NotesSink", at: "Sinks/Files/Notes", uses: ["HemiolaFiles", "HemiolaMIDI", "HemiolaTonal"]),
    plugin("SummarySink", at: "Sinks/Files/Summary", uses: ["HemiolaFiles"]),
    plugin(
        "LightsSink", at: "Sinks/Messages/Lights", uses: ["HemiolaFieldMaps", "HemiolaNetwork"],
        tests: ["NetworkSupport"]),
    plugin(
        "LinkSink", at: "Sinks/Messages/Link", uses: ["HemiolaNetwork"],
        tests: ["LinkControlSource", "BeatAnalyzer", "ToneCapture", "HemiolaEngine"]),
    plugin(
        "MIDISink", at: "Sinks/Messages/MIDI", uses: ["HemiolaFieldMaps", "HemiolaMIDI", "CALSA"],
        tests: ["BeatAnalyzer", "LevelsAnalyzer", "ToneCapture", "HemiolaEngine"]),
    plugin("MQTTSink", at: "Sinks/Messages/MQTT", uses: ["HemiolaFieldMaps", "HemiolaNetwork", "CMosquitto"]),
    plugin(
        "OS2LSink", at: "Sinks/Messages/OS2L", uses: ["HemiolaNetwork", "HemiolaVisualizer"], tests: ["NetworkSupport"],
        testData: ["qlcplus.qxw"]),
    plugin(
        "OSCSink", at: "Sinks/Messages/OSC", uses: ["HemiolaFieldMaps", "HemiolaNetwork"],
        tests: ["NetworkSupport", "BeatAnalyzer", "LevelsAnalyzer", "ToneCapture", "HemiolaEngine"]),
    plugin("WLEDSink", at: "Sinks/Messages/WLED", uses: ["HemiolaNetwork"], tests: ["NetworkSupport"]),
    plugin(
        "PresetsSink", at: "Sinks/Visualizers/Presets", uses: ["HemiolaFiles", "HemiolaVisualizer"],
        tests: [
            "FileCapture", "BeatAnalyzer", "LevelsAnalyzer", "SpectrumAnalyzer", "JSONLinesSink", "HemiolaEngine", "AllocationCounter",
        ]),
    plugin("SocketSink", at: "Sinks/Visualizers/Socket", uses: ["HemiolaBridge", "HemiolaVisualizer"], tests: ["BridgeSupport"]),
    plugin(
        "WebSink", at: "Sinks/Visualizers/Web", uses: ["HemiolaBridge", "HemiolaVisualizer", "CQREncode"],
        exclude: ["Page", "Pictures"], tests: ["BridgeSupport"]),
    plugin("ExecSink", at: "Sinks/Programs/Exec", tests: ["JSONLinesSink"]),
    plugin("LinkControlSource", at: "Controls/Link", uses: ["HemiolaNetwork"], tests: nil),
    plugin(
        "MIDIControlSource", at: "Controls/MIDI", uses: ["HemiolaFieldMaps", "HemiolaMIDI"],
        tests: ["BeatAnalyzer", "ToneCapture", "HemiolaEngine", "HemiolaVisualizer"]),
    plugin(
        "OSCControlSource", at: "Controls/OSC", uses: ["HemiolaFieldMaps", "HemiolaNetwork"],
        tests: ["OSCSink", "BeatAnalyzer", "HemiolaVisualizer"]),
]

/// The modules that require SwiftNIO.
let networkModules: Set = ["HemiolaBridge", "HemiolaNetwork"]

/// Whether a plugin requires SwiftNIO: the sinks and controls of the network, `socket` and `web`. A package that depends on this one with
/// `traits: []` excludes them. They are listed in Sources/HemiolaPlugins/PluginRegistry+Network.swift, which must import them by name.
func needsNetwork(_ target: Target) -> Bool {
    target.dependencies.contains { dependency in
        if case .byNameItem(let name, _) = dependency { return networkModules.contains(name) }
        return false
    }
}

let everyPlugin: [Target.Dependency] = plugins.map(\.[0]).map { plugin in
    .target(name: plugin.name, condition: needsNetwork(plugin) ? .when(traits: ["Network"]) : nil)
}

// The modules, by their layers.
let modules: [Target] = [
    // 6
    .executableTarget(name: "HemiolaMain", dependencies: ["HemiolaCommandLine", "HemiolaPlugins"], swiftSettings: settings),

    // 5
    module(
        "HemiolaCommandLine",
        uses: [
            "HemiolaEngine", "HemiolaPictures", "VampAnalyzer", "HemiolaFieldMaps", "HemiolaFiles", "HemiolaVisualizer", "Hemiola",
            "HemiolaRecords", "HemiolaSignal", "HemiolaSystem", "HemiolaTonal", "CArchive", "CBuildRecord", "CPluginExamples", arguments,
        ]),

    // 4
    module(
        "HemiolaVamp",
        uses: [
            "BeatAnalyzer", "ChromaAnalyzer", "MusicalKeyAnalyzer", "SpectrumAnalyzer", "Hemiola", "HemiolaRecords", "HemiolaSignal",
            "HemiolaSystem", "HemiolaTonal", "CVamp",
        ]),
    module("HemiolaPlugins", uses: everyPlugin + ["Hemiola"]),
    module(
        "HemiolaEngine", uses: ["HemiolaFiles", "Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"], settings: lifetimeSettings),

    // 3, as the plugins
    module("HemiolaTesting", uses: ["HemiolaVisualizer", "Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]),

    // 2
    module("HemiolaFiles", uses: ["Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem", "CZstd"]),
    module("HemiolaMIDI", uses: ["HemiolaSystem"]),
    module("HemiolaPCM", uses: ["Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]),
    module(
        "HemiolaNetwork", uses: ["Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem", "CAbletonLink", nioCore, nioPosix]),
    module("HemiolaFieldMaps", uses: ["Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem", "CFieldMaps", "CYAML"]),
    module(
        "HemiolaBridge",
        uses: [
            "HemiolaVisualizer", "Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem", "CWebPage", nioCore, nioPosix, nioHTTP,
            nioWebSocket,
        ]),

    // 1; the visualizer on top of Hemiola
    module("HemiolaVisualizer", uses: ["Hemiola", "HemiolaRecords"]),
    module("HemiolaTonal", uses: ["HemiolaRecords", "HemiolaSignal"], settings: lifetimeSettings),
    module("Hemiola", uses: ["HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]),

    // 0, each on top of the next
    module("HemiolaRecords", uses: ["HemiolaSignal", "HemiolaSystem"], settings: lifetimeSettings),
    module("HemiolaSignal", uses: ["HemiolaSystem", "CFFTW"], settings: lifetimeSettings),
    module("HemiolaSystem"),
]

let libraries: [Target] = [
    cLibrary("CALSA", isLoadedOnDemand: true),
    cLibrary("CArchive", isLoadedOnDemand: true),
    // Ableton Link's C++ headers, compiled into the program where they are installed.
    data("CAbletonLink"),
    // The weights of the beat networks.
    data("CBeatWeights", exclude: ["DATA.md", "beats-causal.bin", "beats-whole-file.bin", "drums.bin"]),
    // The commit and the compiler, which packaging/build records in the program.
    data("CBuildRecord"),
    cLibrary("CCairo", isLoadedOnDemand: true),
    cLibrary("CEBUR128", isLoadedOnDemand: true),
    cLibrary("CFFTW"),
    cLibrary("CFLAC", isLoadedOnDemand: true),
    data("CFieldMaps", exclude: ["Maps"]),
    cLibrary("CMosquitto", isLoadedOnDemand: true),
    cLibrary("CMPG123", isLoadedOnDemand: true),
    // The packages my-meter and my-printer of examples/custom-plugin.
    data("CPluginExamples"),
    cLibrary("CPulse", isLoadedOnDemand: true),
    cLibrary("CQREncode", isLoadedOnDemand: true),
    cLibrary("CSndFile"),
    cLibrary("CVamp"),
    // The files of Plugins/Sinks/Visualizers/Web/Page.
    data("CWebPage"),
    cLibrary("CXiph", isLoadedOnDemand: true),
    cLibrary("CYAML", isLoadedOnDemand: true),
    cLibrary("CZstd", isLoadedOnDemand: true),
]

let allTests: [Target] = [
    testSupport(
        "References", at: "References",
        exclude: [
            "README.md", "compare-decoders", "make", "make_vectors.py", "make_tonal_vectors.py", "requirements.txt", "vectors.json",
            "tonal.json", "input.wav", "input-stereo.wav",
        ]),
    testSupport(
        "AnalysisSupport", at: "Support/Analysis",
        uses: ["HemiolaEngine", "HemiolaTesting", "TestSupport", "Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]),
    testSupport(
        "BridgeSupport", at: "Support/Bridge", uses: ["TestSupport", "HemiolaVisualizer", "HemiolaRecords", "Hemiola", "HemiolaSignal"]),
    testSupport(
        "NetworkSupport", at: "Support/Network",
        uses: ["HemiolaNetwork", "Hemiola", "HemiolaRecords", "HemiolaSystem", nioCore, nioEmbedded]),
    testSupport("TestSupport", at: "Support/Common", uses: ["Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]),
    .target(name: "AllocationCounter", path: "Tests/Support/AllocationCounter"),
    tests("ArchitectureTests", at: "Architecture", uses: []),
    tests("HemiolaSystemTests", uses: ["HemiolaSystem", "TestSupport", "Hemiola"]),
    tests(
        "HemiolaSignalTests",
        uses: ["HemiolaTesting", "AnalysisSupport", "References", "Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]),
    tests("HemiolaTonalTests", uses: ["References", "HemiolaTonal", "HemiolaRecords", "HemiolaSignal"]),
    tests("HemiolaRecordsTests", uses: ["HemiolaVisualizer", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]),
    tests("HemiolaTests", uses: ["HemiolaVisualizer", "Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]),
    tests("HemiolaFilesTests", uses: ["HemiolaFiles", "TestSupport", "Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]),
    tests("HemiolaPCMTests", uses: ["HemiolaPCM", "HemiolaSignal"]),
    tests(
        "HemiolaFieldMapsTests",
        uses: ["HemiolaFieldMaps", "HemiolaTesting", "TestSupport", "Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]),
    tests(
        "HemiolaNetworkTests",
        uses: ["HemiolaNetwork", "NetworkSupport", "TestSupport", "Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]),
    tests(
        "HemiolaBridgeTests",
        uses: ["HemiolaBridge", "HemiolaVisualizer", "Hemiola", "HemiolaRecords", "HemiolaSignal", nioCore, nioPosix]),
    tests(
        "HemiolaEngineTests",
        uses: [
            "HemiolaEngine", "HemiolaPlugins", "HemiolaTesting", "BeatAnalyzer", "ChromaAnalyzer", "LevelsAnalyzer", "LoudnessAnalyzer",
            "PitchAnalyzer", "SpectrumAnalyzer", "VisualizerAnalyzer", "TestSupport", "HemiolaVisualizer", "Hemiola", "HemiolaRecords",
            "HemiolaSignal", "HemiolaSystem", "AllocationCounter",
        ]),
    tests(
        "EndToEndTests", at: "EndToEnd", uses: ["HemiolaMain", "HemiolaTesting", "HemiolaRecords", "HemiolaSignal", "TestSupport"],
        exclude: ["Scripts"]),
    tests(
        "HemiolaCommandLineTests",
        uses: [
            "HemiolaCommandLine", "HemiolaPlugins", "VampAnalyzer", "HemiolaEngine", "HemiolaFiles", "TestSupport", "HemiolaVisualizer",
            "Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem", arguments,
        ], exclude: ["make_cases.py"], resources: [.process("cases.json")]),
]

let package = Package(
    name: "hemiola",
    products: [
        .executable(name: "hemiola", targets: ["HemiolaMain"]),
        .library(name: "Hemiola", targets: ["Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]),
        .library(name: "HemiolaEngine", targets: ["HemiolaEngine"]),
        .library(name: "HemiolaFiles", targets: ["HemiolaFiles"]),
        .library(name: "HemiolaMIDI", targets: ["HemiolaMIDI"]),
        .library(name: "HemiolaPictures", targets: ["HemiolaPictures"]),
        .library(name: "HemiolaTonal", targets: ["HemiolaTonal"]),
        .library(name: "HemiolaPCM", targets: ["HemiolaPCM"]),
        .library(name: "HemiolaVisualizer", targets: ["HemiolaVisualizer"]),
        .library(name: "HemiolaBridge", targets: ["HemiolaBridge"]),
        .library(name: "HemiolaFieldMaps", targets: ["HemiolaFieldMaps"]),
        .library(name: "HemiolaNetwork", targets: ["HemiolaNetwork"]),
        .library(name: "HemiolaTesting", targets: ["HemiolaTesting"]),
        .library(name: "HemiolaPlugins", targets: ["HemiolaPlugins"]),
        .library(name: "HemiolaCommandLine", targets: ["HemiolaCommandLine"]),
        // The library that hosts of Vamp plugins load.
        .library(name: "HemiolaVamp", type: .dynamic, targets: ["HemiolaVamp"]),
        // For the package Window, which must not be linked with FFTW.
        .library(name: "HemiolaSystem", targets: ["HemiolaSystem"]),
        .library(name: "CWebPage", targets: ["CWebPage"]),
    ],
    traits: [
        .default(enabledTraits: ["Network"]),
        .trait(name: "Network", description: "The sinks and controls of the network, and the sinks socket and web. They require SwiftNIO."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: modules + plugins.flatMap { $0 } + libraries + allTests,
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
