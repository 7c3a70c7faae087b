// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "my-hemiola",
    dependencies: [
        .package(path: ".."),
        // In a package of your own: .package(url: "https://github.com/hemiola/hemiola", from: "0.1.0")
        .package(name: "hemiola", path: "../../.."),
    ],
    targets: [
        // Hemiola with the plugins of the package above built in.
        .executableTarget(
            name: "my-hemiola",
            dependencies: [
                .product(name: "MyPlugins", package: "custom-plugin"),
                .product(name: "HemiolaCommandLine", package: "hemiola"), .product(name: "HemiolaPlugins", package: "hemiola"),
            ])
    ]
)
