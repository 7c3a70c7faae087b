// swift-tools-version: 6.2
import PackageDescription

// A package apart: the main program links no GUI library, and `swift build` of Hemiola never waits for this one.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "hemiola-window",
    targets: [
        // Everything that needs no display: arguments, tabs, stored state, messages.
        .target(name: "WindowCore", swiftSettings: settings),
        .testTarget(name: "WindowCoreTests", dependencies: ["WindowCore"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
