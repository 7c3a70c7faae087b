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
    products: [
        .executable(name: "hemiola-window", targets: ["HemiolaWindow"]),
        // For the tests, which load it into the window.
        .library(name: "PinchSource", type: .dynamic, targets: ["PinchSource"]),
    ],
    targets: [
        // GTK and WebKitGTK run on the main thread, and so does everything here.
        .executableTarget(
            name: "HemiolaWindow", dependencies: ["CWebKit", "CWebPage", "CWindow", "WindowCore"],
            swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
        // Everything that needs no display: arguments, tabs, stored state, messages.
        .target(name: "WindowCore", swiftSettings: settings),
        // The functions of GTK and WebKitGTK that Swift cannot call: with a variable number of arguments, and macros.
        .target(name: "CWindow", dependencies: ["CWebKit"]),
        // The built-in page of the web sink.
        .target(name: "CWebPage"),
        .systemLibrary(name: "CWebKit", pkgConfig: "webkitgtk-6.0", providers: [.apt(["libwebkitgtk-6.0-dev"])]),
        .testTarget(name: "WindowCoreTests", dependencies: ["WindowCore"], swiftSettings: settings),
        // A library that emits the signals of a pinch in the window.
        .target(name: "PinchSource", dependencies: ["CWebKit"], path: "Tests/PinchSource"),
        .testTarget(name: "HemiolaWindowTests", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
