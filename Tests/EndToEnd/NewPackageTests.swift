import Foundation
import TestSupport
import Testing

/// `hemiola plugins new`. `examples/custom-plugin/run` builds, tests and runs the packages.
@Suite struct NewPackageTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func create(_ options: [String]) throws -> ChildProcess.Outcome {
        try Hemiola.run(["plugins", "new", "my-meter"] + options, in: folder.path)
    }

    @Test(arguments: [[], ["--sink"]]) func `new package: the printed commands are those of its README`(options: [String]) throws {
        let outcome = try create(options)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let readme = try folder.text(of: "my-meter/README.md").split(separator: "\n")
        let commands = outcome.lines.dropFirst(2).filter { $0.hasPrefix("  ") }.map { $0.dropFirst(2) }
        #expect(commands.contains("swift build") && outcome.output.contains("HEMIOLA_SOURCE") == options.isEmpty)
        #expect(commands.allSatisfy(readme.contains), "\(outcome.output)")
    }

    @Test(arguments: [("my-meter", []), ("my-printer", ["--sink"])]) func `name of the example: the files of the example`(
        name: String, options: [String]
    ) throws {
        #expect(try Hemiola.run(["plugins", "new", name] + options, in: folder.path).status == 0)
        let example = "\(Hemiola.root)/examples/custom-plugin/\(name)"
        // Without what a build leaves there.
        let paths = try FileManager.default.subpathsOfDirectory(atPath: example)
            .filter { !$0.hasPrefix(".build") && $0 != "Package.resolved" }.sorted()
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder(name)).sorted() == paths)
        for path in paths {
            #expect(FileManager.default.contentsEqual(atPath: folder("\(name)/\(path)"), andPath: "\(example)/\(path)"), "\(path)")
        }
    }

    @Test func `name in which names of the example occur: put in place of the example's, once`() throws {
        #expect(try Hemiola.run(["plugins", "new", "amy-meter"], in: folder.path).status == 0)
        let manifest = try folder.text(of: "amy-meter/Package.swift")
        #expect(manifest.contains(#".executableTarget(name: "amy-meter", dependencies: ["AmyMeter"])"#), "\(manifest)")
        #expect(try folder.text(of: "amy-meter/Sources/amy-meter/main.swift").hasSuffix("\nAnalyzerPlugin.amyMeter.serve()\n"))
        #expect(try folder.text(of: "amy-meter/Sources/AmyMeter/AmyMeter.swift").contains("final class AmyMeter: Analyzer {"))
    }

    @Test(arguments: [[], ["--sink"]], ["README.md", "Package.swift", ".gitignore"])
    func `a file of the package exists: exit code 2, a line with the folder, and nothing is written`(options: [String], name: String) throws
    {
        try FileManager.default.createDirectory(atPath: folder("my-meter"), withIntermediateDirectories: false)
        try folder.write("mine", to: "my-meter/\(name)")
        let outcome = try create(options)
        #expect(outcome.status == 2 && outcome.errorLines.count == 1 && outcome.errors.contains("my-meter: "), "\(outcome.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("my-meter")) == [name])
        #expect(try folder.text(of: "my-meter/\(name)") == "mine")
    }

    @Test func `a file has the name of the package: exit code 2; an empty folder: used`() throws {
        try folder.write("mine", to: "my-meter")
        let outcome = try create([])
        #expect(outcome.status == 2 && outcome.errorLines.count == 1, "\(outcome.errors)")
        try FileManager.default.removeItem(atPath: folder("my-meter"))
        try FileManager.default.createDirectory(atPath: folder("my-meter"), withIntermediateDirectories: false)
        #expect(try create([]).status == 0)
    }
}
