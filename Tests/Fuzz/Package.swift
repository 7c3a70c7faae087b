// swift-tools-version: 6.2
import PackageDescription

// A package of its own: `swift build` and `swift test` of Hemiola never wait for it. `run` says how it has to be built.
let package = Package(
    name: "HemiolaFuzz",
    dependencies: [
        .package(name: "hemiola", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .systemLibrary(name: "LibFuzzer"),
        .target(name: "FuzzSupport"),
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "LibFuzzer", "FuzzSupport",
                .product(name: "Hemiola", package: "hemiola"),
                .product(name: "HemiolaCommandLine", package: "hemiola"),
                .product(name: "HemiolaEngine", package: "hemiola"),
                .product(name: "HemiolaFiles", package: "hemiola"),
                .product(name: "HemiolaMIDI", package: "hemiola"),
                .product(name: "HemiolaPlugins", package: "hemiola"),
                .product(name: "HemiolaTesting", package: "hemiola"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
