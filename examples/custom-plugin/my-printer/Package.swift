// swift-tools-version: 6.2
import PackageDescription

let package = Package(name: "my-printer", targets: [.executableTarget(name: "my-printer", path: "Sources")])
