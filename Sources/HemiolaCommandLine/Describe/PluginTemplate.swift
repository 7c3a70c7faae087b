internal import Hemiola

/// The files of `hemiola plugins new`: a package that builds, passes its tests, and runs with the installed program.
struct PluginTemplate {
    private let name: String
    private let isSink: Bool

    /// - Throws: The name cannot be that of a package.
    init(_ name: String, isSink: Bool) throws(Failure) {
        let allowed = name.allSatisfy { $0 >= "a" && $0 <= "z" || $0 >= "0" && $0 <= "9" || $0 == "-" }
        guard allowed, let first = name.first, first.isLetter, name.last != "-", name.count <= 60, !name.contains("--") else {
            throw Failure("\(PathText.shown(name)): a name has lower-case letters, digits and - between them, as in my-meter")
        }
        self.name = name
        self.isSink = isSink
    }

    /// Makes the folder and its files.
    ///
    /// - Throws: A file of the user's own is in the way, and nothing was written; or a file cannot be written.
    func write() throws(Failure) {
        let files = isSink ? sinkFiles : analyzerFiles
        if let status = try? FileSystem.status(of: name), status.kind != .folder {
            throw Failure("\(name): a file has this name; choose another name")
        }
        if let (path, _) = files.first(where: { FileSystem.exists("\(name)/\($0.path)") }) {
            throw Failure("\(name): the folder has a file \(path) already; choose another name")
        }
        for (path, text) in files {
            let path = "\(name)/\(path)"
            do throws(SystemCallError) {
                try FileSystem.createFolder(FileSystem.folder(of: path))
                try PartialFile.write(Array(text.utf8), to: path)
            } catch {
                throw Failure("\(path): \(error)", status: .outputFailed)
            }
        }
    }

    /// `my-meter` as a type: `MyMeter`.
    private var type: String { name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined() }
    /// As a value: `myMeter`.
    private var value: String { type.prefix(1).lowercased() + type.dropFirst() }
    /// As a name in records: `my_meter`.
    private var key: String { name.split(separator: "-").joined(separator: "_") }

    /// What to do with the new package.
    var instructions: String {
        """
        made \(name); to build and run it:
          cd \(name)
        \(commands.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
        """ + (isSink ? "" : "\n\(Self.source)")
    }

    private static let source =
        "To build it with a clone of hemiola instead of its release, before: export HEMIOLA_SOURCE=~/hemiola"

    /// The commands that build and run the package, in its folder. An unoptimised build takes half of the time.
    private var commands: String {
        isSink
            ? """
            swift build
            hemiola analyze song.flac --sink 'exec:.build/debug/\(name),select=levels+beat'
            """
            : """
            swift build
            hemiola analyze song.flac --analyzer '+exec:.build/debug/\(name),as=\(key)' --select \(key)
            """
    }

    // MARK: - Analyzer

    private var analyzerFiles: [(path: String, text: String)] {
        [
            (
                "Package.swift",
                """
                // swift-tools-version: 6.2
                import PackageDescription

                // The folder HEMIOLA_SOURCE with a clone of Hemiola's source, or else its release.
                let hemiola: Package.Dependency =
                    Context.environment["HEMIOLA_SOURCE"].map { .package(name: "hemiola", path: $0, traits: []) }
                    ?? .package(url: "https://github.com/hemiola/hemiola", from: "\(HemiolaVersion.current)", traits: [])

                let package = Package(
                    name: "\(name)",
                    dependencies: [hemiola],
                    targets: [
                        .target(name: "\(type)", dependencies: [.product(name: "Hemiola", package: "hemiola")]),
                        .executableTarget(name: "\(name)", dependencies: ["\(type)"]),
                        .testTarget(
                            name: "\(type)Tests", dependencies: ["\(type)", .product(name: "HemiolaTesting", package: "hemiola")]),
                    ]
                )

                """
            ),
            (
                "Sources/\(type)/\(type).swift",
                """
                import Hemiola

                extension AnalyzerPlugin {
                    public static let \(value) = AnalyzerPlugin(
                        PluginDescription("\(name)", "Crest factor: the peak over the RMS level."), settings: \(type)Settings.self
                    ) { settings throws(Problem) in \(type)(gate: Float(settings.gate)) }
                }

                struct \(type)Settings: PluginSettings {
                    var gate: Double

                    init(_ read: inout SettingReader) {
                        gate = read.number("gate", default: 0.001, in: 0...1, unit: .amplitude, "Below this peak there is no value.")
                    }
                }

                final class \(type): Analyzer {
                    private let gate: Float
                    private var crest = FeatureHandle(offset: 0, count: 0)

                    init(gate: Float) { self.gate = gate }

                    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
                        var outputs = AnalyzerOutputs()
                        crest = outputs.add(Feature("crest", .ratio, in: 0...1000, aggregation: .maximum, "Peak over RMS."))
                        return outputs
                    }

                    // On the hot path: no allocation, no lock, no I/O.
                    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
                        var (peak, squares): (Float, Float) = (0, 0)
                        for index in 0..<hop.frameCount {
                            peak = max(peak, abs(hop.mono[index]))
                            squares += hop.mono[index] * hop.mono[index]
                        }
                        if peak > max(gate, 1e-6) { row[crest] = peak / (squares / Float(hop.frameCount)).squareRoot() }
                    }

                    func reset() {}
                }

                """
            ),
            ("Sources/\(name)/main.swift", "import Hemiola\nimport \(type)\n\nAnalyzerPlugin.\(value).serve()\n"),
            (
                "Tests/\(type)Tests/\(type)Tests.swift",
                """
                import Hemiola
                import HemiolaTesting
                import \(type)
                import Testing

                @Suite struct \(type)Tests {
                    @Test func `conforms to the rules of analyzers`() throws {
                        try AnalyzerConformanceSuite(.\(value)).run()
                    }

                    @Test func `sine: its crest factor is the square root of 2`() throws {
                        let output = try AnalyzerHarness(.\(value)).process(TestSignal.sine(440, frames: 44_100))
                        // The last batch has a part of a period.
                        #expect(output.values("crest").joined().dropLast().allSatisfy { abs($0 - 1.414) < 0.05 })
                    }
                }

                """
            ),
            (
                "README.md",
                """
                # \(name)

                ```sh
                \(commands)
                ```

                \(Self.source)

                With the setting of the analyzer, in a table, and its tests; `swift build -c release` makes it faster:

                ```sh
                hemiola analyze song.flac --analyzer '+exec:.build/debug/\(name) gate=0.01,as=\(key)' -o song.csv
                swift test
                ```

                The guide: https://github.com/hemiola/hemiola/blob/main/Sources/Hemiola/Hemiola.docc/WriteAnAnalyzer.md

                """
            ),
            (".gitignore", ".build/\nPackage.resolved\n"),
        ]
    }

    // MARK: - Sink

    private var sinkFiles: [(path: String, text: String)] {
        [
            (
                "Package.swift",
                """
                // swift-tools-version: 6.2
                import PackageDescription

                let package = Package(name: "\(name)", targets: [.executableTarget(name: "\(name)", path: "Sources")])

                """
            ),
            (
                "Sources/main.swift",
                """
                import Foundation

                while let line = readLine() {
                    guard let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else { continue }
                    switch record["type"] as? String {
                    case "batch":
                        let levels = record["levels"] as? [String: Any]
                        if let level = levels?["rms_db"] as? Double { print(String(repeating: "#", count: Int(max(0, 60 + level)))) }
                    case "beat": print("beat", record["position"] as? Int ?? 0, "at", record["t"] as? Double ?? 0, "s")
                    default: break
                    }
                }

                """
            ),
            (
                "README.md",
                """
                # \(name)

                ```sh
                \(commands)
                hemiola listen --sink 'exec:.build/debug/\(name),select=levels+beat'
                ```

                The records: https://github.com/hemiola/hemiola/blob/main/Sources/HemiolaRecords/HemiolaRecords.docc/Records.md

                """
            ),
            (".gitignore", ".build/\n"),
        ]
    }
}
