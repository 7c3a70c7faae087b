// swift-tools-version: 6.2
import PackageDescription

// In a package of your own: .package(url: "https://github.com/hemiola/hemiola", from: "0.1.0")
// With `traits: []` Hemiola needs no SwiftNIO; the sinks of the network, socket and web are then left out.
let hemiola = Package.Dependency.package(name: "hemiola", path: "..")

func product(_ name: String) -> Target.Dependency { .product(name: name, package: "hemiola") }

let package = Package(
    name: "examples",
    products: [.library(name: "MyPlugins", targets: ["MyPlugins"])],
    dependencies: [hemiola],
    targets: [
        // A program that embeds Hemiola: what plugins are, what runs them, and those that Hemiola comes with.
        .executableTarget(
            name: "loudest-second", dependencies: [product("Hemiola"), product("HemiolaEngine"), product("HemiolaPlugins")],
            path: "embed/Sources/loudest-second"),
        // Plugins need the plugin API.
        .target(
            name: "MyPlugins", dependencies: [product("Hemiola")], path: "custom-plugin/Sources/MyPlugins"),
        // Their conformance tests.
        .testTarget(
            name: "MyPluginsTests", dependencies: ["MyPlugins", product("HemiolaTesting")], path: "custom-plugin/Tests/MyPluginsTests"),
        // Hemiola with these plugins built in.
        .executableTarget(
            name: "my-hemiola", dependencies: ["MyPlugins", product("HemiolaCommandLine"), product("HemiolaPlugins")],
            path: "custom-plugin/Sources/my-hemiola"),
    ]
)
