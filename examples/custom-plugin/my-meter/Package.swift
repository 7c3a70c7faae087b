// swift-tools-version: 6.2
import PackageDescription

// The folder HEMIOLA_SOURCE with a clone of Hemiola's source, or else its release.
let hemiola: Package.Dependency =
    Context.environment["HEMIOLA_SOURCE"].map { .package(name: "hemiola", path: $0, traits: []) }
    ?? .package(url: "https://github.com/hemiola/hemiola", from: "0.1.0", traits: [])

let package = Package(
    name: "my-meter",
    dependencies: [hemiola],
    targets: [
        .target(name: "MyMeter", dependencies: [.product(name: "Hemiola", package: "hemiola")]),
        .executableTarget(name: "my-meter", dependencies: ["MyMeter"]),
        .testTarget(
            name: "MyMeterTests", dependencies: ["MyMeter", .product(name: "HemiolaTesting", package: "hemiola")]),
    ]
)
