// swift-tools-version: 6.2
import PackageDescription

// A package of its own: the main program links no GUI library, and `swift build` of Hemiola never waits for this one. It is not linked with
// FFTW, whose licence is the GPL: of the modules of Hemiola, it uses only the one below those that are.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let system: Target.Dependency = .product(name: "HemiolaSystem", package: "hemiola")

let package = Package(
    name: "hemiola-window",
    products: [
        .executable(name: "hemiola-window", targets: ["HemiolaWindow"]),
        // For the tests, which load it into the window.
        .library(name: "PinchSource", type: .dynamic, targets: ["PinchSource"]),
        .library(name: "ObjectCount", type: .dynamic, targets: ["ObjectCount"]),
    ],
    dependencies: [.package(name: "hemiola", path: "..", traits: [])],
    targets: [
        // GTK and WebKitGTK run on the main thread, and so does everything here.
        .executableTarget(
            name: "HemiolaWindow",
            dependencies: ["CWebKit", "CWindow", "WindowCore", system, .product(name: "CWebPage", package: "hemiola")],
            swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
        // Everything that needs no display: arguments, tabs, stored state, messages.
        .target(name: "WindowCore", dependencies: [system], swiftSettings: settings),
        // The functions of GTK and WebKitGTK that Swift cannot call: with a variable number of arguments, and macros.
        .target(name: "CWindow", dependencies: ["CWebKit"]),
        .systemLibrary(name: "CWebKit", pkgConfig: "webkitgtk-6.0", providers: [.apt(["libwebkitgtk-6.0-dev"])]),
        .testTarget(name: "WindowCoreTests", dependencies: ["WindowCore", system], swiftSettings: settings),
        // A library that emits the signals of a pinch in the window.
        .target(name: "PinchSource", dependencies: ["CWebKit"], path: "Tests/PinchSource"),
        // A library that counts the objects that are left.
        .target(name: "ObjectCount", dependencies: ["CWebKit"], path: "Tests/ObjectCount"),
        .testTarget(name: "HemiolaWindowTests", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
