// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "embed",
    dependencies: [
        // In a package of your own: .package(url: "https://github.com/hemiola/hemiola", from: "0.1.0")
        .package(name: "hemiola", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "loudest-second",
            dependencies: [
                // What plugins are, what runs them, and those that Hemiola comes with.
                .product(name: "Hemiola", package: "hemiola"), .product(name: "HemiolaEngine", package: "hemiola"),
                .product(name: "HemiolaPlugins", package: "hemiola"),
            ])
    ]
)
