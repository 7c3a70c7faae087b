import Foundation
import TestSupport
import Testing

/// Libraries that are loaded on demand: a command without a need for them runs where they are not installed.
///
/// `LD_LIBRARY_PATH` names a folder with an empty file in place of each library, which the dynamic linker cannot load.
@Suite struct LibraryTests {
    let folder: TemporaryFolder
    private let environment: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        let libraries = folder.path + "/libraries"
        try FileManager.default.createDirectory(atPath: libraries, withIntermediateDirectories: true)
        let names = [
            "libyaml-0.so.2", "libzstd.so.1", "libpulse.so.0", "libcairo.so.2", "libebur128.so.1", "libasound.so.2", "libmosquitto.so.1",
            "libqrencode.so.4", "libarchive.so.13",
        ]
        for name in names {
            try Data().write(to: URL(fileURLWithPath: "\(libraries)/\(name)"))
        }
        environment = ["LD_LIBRARY_PATH": libraries]
    }

    private func run(_ arguments: [String]) throws -> ChildProcess.Outcome {
        try ChildProcess.run(Hemiola.path, arguments, in: folder.path, environment: environment, timeout: Hemiola.timeout)
    }

    @Test func `no library on demand is installed: a file is analysed`() throws {
        let outcome = try run(["analyze", try folder.writeTone()])
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(try Record.all(in: outcome.output).count > 2)
    }

    @Test func `no library on demand is installed: --version --verbose names each`() throws {
        let outcome = try run(["--version", "--verbose"])
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        let onDemand = [
            "libyaml", "Zstandard", "libpulse", "cairo", "libebur128", "libasound", "libmosquitto", "libqrencode", "libarchive",
        ]
        for library in onDemand {
            #expect(outcome.lines.contains { $0.hasPrefix("\(library) ") && $0.hasSuffix(" not installed") }, "\(library)")
        }
        for library in ["FFTW", "libsndfile"] {
            #expect(outcome.lines.contains { $0.hasPrefix("\(library) ") && !$0.hasSuffix(" not installed") }, "\(library)")
        }
    }

    @Test func `libyaml is not installed: a pipeline file is an error that names the package`() throws {
        let pipeline = try folder.write(Data("inputs: [a.wav]\n".utf8), to: "pipeline.yaml")
        let outcome = try run(["check", pipeline])
        #expect(outcome.status == 2)
        #expect(
            outcome.errors.hasSuffix("cannot read YAML: libyaml-0.so.2 cannot be loaded; install it: apt install libyaml-0-2\n"),
            "\(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func `Zstandard is not installed: a compressed output is an error that names the package, and no file is written`() throws {
        let outcome = try run(["analyze", try folder.writeTone(), "-o", "a.jsonl.zst"])
        #expect(outcome.status == 3)
        #expect(
            outcome.errors == """
                hemiola: cannot compress: libzstd.so.1 cannot be loaded; install it: apt install libzstd1, or write without compression

                """)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.contains("a.jsonl") })
    }

    @Test func `cairo is not installed: a picture is an error that names the package, and no file is written`() throws {
        let outcome = try run(["render", try folder.writeTone(), "-o", "a.png"])
        #expect(outcome.status == 3)
        #expect(
            outcome.errors == """
                hemiola: cannot draw pictures: libcairo.so.2 cannot be loaded; install it: apt install libcairo2

                """)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.contains("a.png") })
    }

    @Test func `libebur128 is not installed: the analyzer loudness is an error that names the package, and no file is read`() throws {
        let outcome = try run(["analyze", try folder.writeTone(), "--analyzer", "loudness"])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("libebur128.so.1 cannot be loaded; install it: apt install libebur128-1"), "\(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count == 1 && outcome.output.isEmpty)
        let doctor = try run(["doctor"])
        #expect(doctor.output.contains("not installed; needed for the analyzer loudness: apt install libebur128-1"), "\(doctor.output)")
    }

    @Test func `libmosquitto is not installed: the sink mqtt is an error that names the package`() throws {
        let outcome = try run(["analyze", try folder.writeTone(), "--quiet", "--sink", "mqtt"])
        #expect(outcome.status == 3)
        #expect(
            outcome.errors == "hemiola: mqtt: libmosquitto.so.1 cannot be loaded; install it: apt install libmosquitto1\n",
            "\(outcome.errors)")
    }

    @Test func `doctor: reports libraries that cannot be loaded, each with its package`() throws {
        let outcome = try run(["doctor"])
        #expect(outcome.status == 1)
        for (name, package) in [("libyaml", "libyaml-0-2"), ("Zstandard", "libzstd1")] {
            let lines = outcome.output.split(separator: "\n")
            let index = try #require(lines.firstIndex { $0.hasPrefix("!!  \(name) ") }, "\(outcome.output)")
            #expect(lines[index].hasSuffix("not found") && lines[index + 1].hasSuffix("-> apt install \(package)"))
        }
    }
}
