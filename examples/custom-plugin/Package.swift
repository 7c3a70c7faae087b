// swift-tools-version: 6.2
import PackageDescription

// In a package of your own: .package(url: "https://github.com/hemiola/hemiola", from: "0.1.0", traits: [])
// Without its default traits, Hemiola needs no SwiftNIO.
let hemiola = Package.Dependency.package(name: "hemiola", path: "../..", traits: [])

func product(_ name: String) -> Target.Dependency { .product(name: name, package: "hemiola") }

let package = Package(
    name: "custom-plugin",
    products: [.library(name: "MyPlugins", targets: ["MyPlugins"])],
    dependencies: [hemiola],
    targets: [
        // The plugins need the plugin API; the sink also needs the encoder of records.
        .target(
            name: "MyPlugins", dependencies: [product("Hemiola"), product("HemiolaWire")],
            // The methods of a sink run on the sink's own thread, where they may block, not on Swift's shared pool.
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        // The conformance tests.
        .testTarget(name: "MyPluginsTests", dependencies: ["MyPlugins", product("HemiolaTesting")]),
    ]
)
