// swift-tools-version: 6.2
import PackageDescription

// A package of its own: `swift build` and `swift test` of Hemiola never wait for it.
let package = Package(
    name: "HemiolaBenchmarks",
    dependencies: [.package(name: "hemiola", path: "../..")],
    targets: [
        .executableTarget(
            name: "HopBenchmark",
            dependencies: [
                .product(name: "Hemiola", package: "hemiola"),
                .product(name: "HemiolaEngine", package: "hemiola"),
                .product(name: "HemiolaPlugins", package: "hemiola"),
                .product(name: "HemiolaTesting", package: "hemiola"),
                .product(name: "HemiolaVisualizer", package: "hemiola"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
