// swift-tools-version: 6.2
import PackageDescription

// A package apart: the library that hosts of Vamp plugins load has the Swift runtime in it, and packaging/build links it.

let package = Package(
    name: "hemiola-vamp",
    products: [.library(name: "HemiolaVamp", type: .dynamic, targets: ["HemiolaVamp"])],
    dependencies: [.package(name: "hemiola", path: "..", traits: [])],
    targets: [
        .target(
            name: "HemiolaVamp",
            dependencies: ["Hemiola", "HemiolaAnalyzers", "HemiolaTonal", "CVamp"].map { .product(name: $0, package: "hemiola") },
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
