// swift-tools-version: 6.2
import PackageDescription

// The house, floor by floor. Imports point down, never sideways; a plugin never imports a plugin;
// the core knows no plugin. Tests/HouseTests reads every import and holds it against this drawing.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Rooms that vend spans over buffers of their own need the lifetime annotations.
let lending: [SwiftSetting] = settings + [.enableExperimentalFeature("Lifetimes")]

func room(_ name: String, uses rooms: [Target.Dependency] = [], settings: [SwiftSetting] = settings) -> Target {
    .target(name: name, dependencies: rooms, swiftSettings: settings)
}

/// A C library: a header and a module map.
func cLibrary(_ name: String) -> Target {
    .systemLibrary(name: name)
}

func plugin(_ name: String, at path: String, uses rooms: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: ["Hemiola", "HemiolaSignal"] + rooms, path: "Plugins/\(path)", exclude: ["README.md"],
        swiftSettings: settings)
}

func tests(_ name: String, uses rooms: [Target.Dependency], resources: [Resource] = [], exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: rooms, path: "Tests/\(name)", exclude: exclude, resources: resources,
        swiftSettings: settings)
}


let package = Package(
    name: "hemiola",
    products: [
        .library(name: "Hemiola", targets: ["Hemiola", "HemiolaSignal"]),
        .library(name: "HemiolaEngine", targets: ["HemiolaEngine"]),
    ],
    dependencies: [
    ],
    targets: [
        // 5

        // 4

        // 3
        room("HemiolaEngine", uses: ["Hemiola", "HemiolaSpectrum", "HemiolaSignal"], settings: lending),

        // 2
        plugin("FileCapture", at: "Captures/File", uses: ["CSndFile"]),

        // 1
        room("Hemiola", uses: ["HemiolaSignal"]),
        room("HemiolaSpectrum", uses: ["HemiolaSignal", "CFFTW"], settings: lending),

        // 0
        room("HemiolaSignal", settings: lending),
        cLibrary("CFFTW"),
        cLibrary("CSndFile"),

        // Tests
        tests("FileCaptureTests", uses: ["FileCapture", "Hemiola", "HemiolaSignal"]),
    ],
    swiftLanguageModes: [.v6]
)
