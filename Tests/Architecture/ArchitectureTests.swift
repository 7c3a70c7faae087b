import Foundation
import Testing

@Suite struct ArchitectureTests {
    @Test func `this checkout: no violations`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let architecture = try Architecture(root: root)
        #expect(architecture.files.count > 50)
        #expect(architecture.violations == [])
    }

    // MARK: - The checks

    private static let valid = [
        "Package.swift": """
        module("HemiolaEngine", uses: ["Hemiola", "HemiolaSignal"], settings: lifetimeSettings),
        plugin("OneCapture", at: "Captures/One", uses: ["CSndFile"]),
        plugin("TwoSink", at: "Sinks/Two"),
        plugin("ThreeAnalyzer", at: "Analyzers/Three", uses: [
            "HemiolaTonal",
        ]),
        module("HemiolaCommandLine", uses: ["HemiolaEngine", "Hemiola", arguments]),
        module("Hemiola", uses: ["HemiolaSignal"]),
        module("HemiolaTonal", uses: ["HemiolaSignal"]),
        module("HemiolaSignal", uses: ["CFFTW"]),
        cLibrary("CFFTW"),
        cLibrary("CSndFile"),
        """,
        "Sources/HemiolaSignal/Batch.swift": "struct Batch {}",
        "Sources/Hemiola/Sink.swift": "public import HemiolaSignal\nimport Synchronization",
        "Sources/HemiolaEngine/Loop.swift": "internal import Hemiola\nimport struct HemiolaSignal.Batch",
        "Sources/HemiolaSignal/RealFFT.swift": "internal import CFFTW",
        "Sources/HemiolaCommandLine/Root.swift": "import ArgumentParser\nimport HemiolaEngine",
        "Plugins/Captures/One/SoundFile.swift": "import Hemiola",
        "Plugins/Captures/One/README.md": "# One",
        "Plugins/Sinks/Two/Two.swift": "import FoundationEssentials\nimport Hemiola",
        "Plugins/Sinks/Two/README.md": "# Two",
        "Plugins/Analyzers/Three/Three.swift": "import HemiolaTonal",
        "Plugins/Analyzers/Three/README.md": "# Three",
    ]

    @Test func `valid architecture: no violations`() {
        #expect(Architecture(files: Self.valid).violations == [])
    }

    @Test(arguments: [
        ("Sources/Hemiola/Up.swift", "import HemiolaEngine", "Hemiola on layer 1 uses HemiolaEngine on layer 4"),
        ("Sources/HemiolaTonal/Side.swift", "@testable import Hemiola", "HemiolaTonal on layer 1 uses Hemiola on layer 1"),
        ("Sources/HemiolaSignal/Up.swift", "  package import Hemiola", "HemiolaSignal on layer -1 uses Hemiola on layer 1"),
        ("Plugins/Sinks/Two/More.swift", "import OneCapture", "the plugin TwoSink uses the plugin OneCapture"),
        ("Plugins/Sinks/Two/More.swift", "internal import HemiolaEngine", "TwoSink on layer 3 uses HemiolaEngine on layer 4"),
        ("Sources/HemiolaEngine/Names.swift", "// as FileCapture and\n// OneCapture do", "names the plugin OneCapture"),
        ("Sources/HemiolaEngine/PluginUse.swift", "import TwoSink", "HemiolaEngine uses the plugin TwoSink, but is a core module"),
        ("Sources/HemiolaSignal/Other.swift", "import CFFTW", "CFFTW, which only Sources/HemiolaSignal/RealFFT.swift may import"),
        (
            "Plugins/Captures/One/Other.swift", "private import CSndFile",
            "CSndFile, which only Plugins/Captures/File/Decoders/SndFileDecoder.swift"
        ),
        ("Sources/Hemiola/Date.swift", "import FoundationEssentials", "imports FoundationEssentials, which Hemiola must not import"),
        ("Sources/HemiolaEngine/Date.swift", "import struct FoundationEssentials.URL", "which HemiolaEngine must not import"),
        ("Plugins/Sinks/Two/Date.swift", "import Foundation", "Two/Date.swift imports Foundation, which links ICU"),
        ("Sources/HemiolaCommandLine/Date.swift", "import struct Foundation.URL", "imports Foundation, which links ICU"),
        ("Plugins/Analyzers/Three/Date.swift", "import FoundationEssentials", "which ThreeAnalyzer must not import"),
        ("Plugins/Sinks/Two/Arguments.swift", "import ArgumentParser", "ArgumentParser, which belongs to HemiolaCommandLine"),
        ("Sources/HemiolaEngine/New.swift", "import NIOHTTP2", "uses NIOHTTP2, which is not an allowed module"),
        ("Sources/HemiolaEngine/New.swift", "import NIOCore", "uses NIOCore, which belongs to HemiolaBridge"),
        ("Sources/HemiolaEngine/Spectrum.swift", "import HemiolaTonal", "which Package.swift does not list for HemiolaEngine"),
        ("Sources/HemiolaManager/Manager.swift", "", "Sources/HemiolaManager has no layer"),
        ("Plugins/Sinks/Four/Four.swift", "", "Plugins/Sinks/Four/Four.swift belongs to no plugin"),
        ("Plugins/Sinks/Two/README.md", " \n", "Plugins/Sinks/Two has no README.md"),
        (
            "Sources/HemiolaEngine/Box.swift", "/// A box.\nfinal class Box: @unchecked Sendable {}",
            "Box.swift:2 has @unchecked Sendable without a reason"
        ),
        (
            "Sources/HemiolaEngine/Box.swift", "struct Box {\n\n    nonisolated(unsafe) static var count = 0\n}",
            "Box.swift:3 has nonisolated(unsafe) without a reason"
        ),
        ("Package.swift", "module(\"Hemiola\", uses: [\n\"HemiolaEngine\",\n]),", "Package.swift: Hemiola on layer 1 uses HemiolaEngine"),
        (
            "Package.swift",
            "plugin(\"TwoSink\", at: \"Sinks/Two\", uses: [\"OneCapture\"]),\nplugin(\"OneCapture\", at: \"Captures/One\")",
            "Package.swift: the plugin TwoSink uses the plugin OneCapture"
        ),
        ("Sources/Hemiola/Bytes.swift", "let byte = UInt8(bitPattern: character)", "Bytes.swift converts a CChar with bitPattern"),
        ("Plugins/Sinks/Two/Time.swift", "let start = ContinuousClock.now", "has ContinuousClock, which belongs to"),
        ("Sources/HemiolaEngine/Now.swift", "let time = time(nil)", "has time(nil, which belongs to"),
        ("Sources/HemiolaEngine/Wait.swift", "pthread_cond_wait(a, b)", "has pthread_cond_, which belongs to"),
        ("Plugins/Sinks/Two/Wake.swift", "let code = pipe(&ends)", "has pipe(, which belongs to"),
        ("Plugins/Sinks/Two/Wake.swift", "let ends = try PipeEnds()", "has PipeEnds(), which belongs to"),
        ("Plugins/Sinks/Two/Pause.swift", "struct ReconnectDelay {}", "has struct ReconnectDelay, which belongs to"),
        ("Sources/Hemiola/Lines.swift", "  private struct NameSplitter {", "has struct NameSplitter, which belongs to"),
        ("Sources/HemiolaEngine/File.swift", "rename(path, other)", "has rename(, which belongs to"),
        ("Plugins/Sinks/Two/State.swift", "let state = try? JSONDecoder().decode(", "has JSONDecoder, which belongs to"),
        ("Plugins/Sinks/Two/State.swift", "struct State: Codable {", "has Codable, which belongs to"),
        ("Sources/HemiolaEngine/Tree.swift", "indirect enum RecordTree {", "has enum RecordTree, which belongs to"),
        ("Plugins/Sinks/Two/Wait.swift", "func open() async {", "has async, which belongs to"),
        (
            "Plugins/Sinks/Two/Locks.swift", String(repeating: "state.withLock { $0 += 1 }\n", count: 4),
            "sinks use withLock 4 times, more than 3"
        ),
        ("Plugins/Sinks/Two/Trouble.swift", "struct Trouble: Hashable, Error {", "declares the error Trouble; throw a Problem"),
        ("Sources/HemiolaEngine/Trouble.swift", "    package enum Bad: Error, Sendable {", "declares the error Bad; throw a Problem"),
        ("Package.swift", "module(\"HemiolaManager\")", "the target HemiolaManager, which has no layer"),
        ("Package.swift", "module(\"HemiolaEngine\", uses: [arguments])", "HemiolaEngine uses ArgumentParser, which belongs to"),
    ])
    func `violation: reported`(path: String, text: String, message: String) {
        var files = Self.valid
        files[path] = text
        #expect(Architecture(files: files).violations.contains { $0.contains(message) })
    }

    @Test(arguments: [
        "/// A box.\n///\n/// `@unchecked Sendable`: only one thread has it.\nfinal class Box: @unchecked Sendable {}",
        "// The C library locks.\n@frozen\npublic struct Box: @unchecked Sendable {}",
        "nonisolated(unsafe) var count = 0 // set once, before the threads",
        "// `@unchecked Sendable` is only mentioned.",
    ])
    func `unsafe attribute with a reason: accepted`(text: String) {
        #expect(Architecture.unexplained(in: text).isEmpty)
    }

    @Test(arguments: [
        "// Not with pipe(2), ContinuousClock or rename().", "let pipeline = pipeline(a)", "struct DelayedSink {}", "retimed(nil)",
        "let lines = JSONLinesEncoder()", "enum Street {}", "let isAsynchronous = true",
    ])
    func `comment, or part of another name: in its place`(text: String) {
        #expect(Architecture.misplaced(in: text, at: "Sources/Hemiola/File.swift") == [])
    }

    @Test func `imports with attributes and access levels: all found`() {
        let text = """
            import A
            public import B
              @preconcurrency internal import C
            @_spi(X) import struct D.E
            // import F
            #if canImport(G)
                import H
            #endif
            let important = "import I"
            """
        #expect(Architecture.imports(in: text) == ["A", "B", "C", "D", "H"])
    }

    @Test func `string literal of several lines: no code, what follows is`() {
        let quotes = String(repeating: "\"", count: 3)
        let text = "let a = \(quotes)\n    import A\n    \(quotes)\nimport B\nlet b = \(quotes)\n\(quotes)\nimport C"
        #expect(Architecture.imports(in: Architecture.code(of: text)) == ["B", "C"])
    }
}
