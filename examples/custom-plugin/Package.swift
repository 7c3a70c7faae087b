// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "custom-plugin",
    dependencies: [
        // In a package of your own: .package(url: "https://github.com/hemiola/hemiola", from: "0.1.0")
        .package(name: "hemiola", path: "../..")
    ],
    targets: [
        // The plugin: needs the plugin API and nothing else.
        .target(name: "ZeroCrossings", dependencies: [.product(name: "Hemiola", package: "hemiola")]),
        // Hemiola with the plugin built in.
        .executableTarget(
            name: "my-hemiola",
            dependencies: [
                "ZeroCrossings", .product(name: "HemiolaCommandLine", package: "hemiola"),
                .product(name: "HemiolaPlugins", package: "hemiola"),
            ]),
        .testTarget(
            name: "ZeroCrossingsTests", dependencies: ["ZeroCrossings", .product(name: "HemiolaTesting", package: "hemiola")]),
    ]
)
