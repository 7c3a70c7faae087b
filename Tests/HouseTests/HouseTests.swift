import Foundation
import Testing

@Suite struct HouseTests {
    @Test func `the house stands as it was drawn`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let house = try House(root: root)
        #expect(house.files.count > 50)
        #expect(house.violations == [])
    }

    // MARK: - The checker itself

    private static let sound = [
        "Package.swift": """
        room("HemiolaEngine", uses: ["Hemiola", "HemiolaSignal"], settings: lending),
        plugin("OneCapture", at: "Captures/One", uses: ["CSndFile"]),
        plugin("TwoSink", at: "Sinks/Two"),
        plugin("ThreeAnalyzer", at: "Analyzers/Three", uses: [
            "HemiolaSpectrum",
        ]),
        room("HemiolaCommandLine", uses: ["HemiolaEngine", "Hemiola", arguments]),
        room("Hemiola", uses: ["HemiolaSignal"]),
        room("HemiolaSpectrum", uses: ["HemiolaSignal", "CFFTW"]),
        room("HemiolaSignal"),
        cLibrary("CFFTW"),
        cLibrary("CSndFile"),
        """,
        "Sources/HemiolaSignal/Batch.swift": "struct Batch {}",
        "Sources/Hemiola/Sink.swift": "public import HemiolaSignal\nimport Synchronization",
        "Sources/HemiolaEngine/Loop.swift": "internal import Hemiola\nimport struct HemiolaSignal.Batch",
        "Sources/HemiolaSpectrum/RealFFT.swift": "internal import CFFTW",
        "Sources/HemiolaCommandLine/Root.swift": "import ArgumentParser\nimport FoundationEssentials\nimport HemiolaEngine",
        "Plugins/Captures/One/SoundFile.swift": "import Hemiola",
        "Plugins/Captures/One/README.md": "# One",
        "Plugins/Sinks/Two/Two.swift": "import FoundationEssentials\nimport Hemiola",
        "Plugins/Sinks/Two/README.md": "# Two",
        "Plugins/Analyzers/Three/Three.swift": "import HemiolaSpectrum",
        "Plugins/Analyzers/Three/README.md": "# Three",
    ]

    @Test func `a sound house has no violations`() {
        #expect(House(files: Self.sound).violations == [])
    }

    @Test(arguments: [
        ("Sources/Hemiola/Up.swift", "import HemiolaEngine", "Hemiola on floor 1 uses HemiolaEngine on floor 4"),
        ("Sources/Hemiola/Side.swift", "@testable import HemiolaSpectrum", "Hemiola on floor 1 uses HemiolaSpectrum on floor 1"),
        ("Sources/HemiolaSignal/Up.swift", "  package import Hemiola", "HemiolaSignal on floor 0 uses Hemiola on floor 1"),
        ("Plugins/Sinks/Two/More.swift", "import OneCapture", "the plugin TwoSink uses the plugin OneCapture"),
        ("Plugins/Sinks/Two/More.swift", "internal import HemiolaEngine", "TwoSink on floor 3 uses HemiolaEngine on floor 4"),
        ("Sources/HemiolaEngine/Names.swift", "// as FileCapture and\n// OneCapture do", "names the plugin OneCapture"),
        ("Sources/HemiolaEngine/Knows.swift", "import TwoSink", "HemiolaEngine uses the plugin TwoSink; the core knows none"),
        ("Sources/HemiolaSpectrum/Other.swift", "import CFFTW", "CFFTW, which only Sources/HemiolaSpectrum/RealFFT.swift may touch"),
        ("Plugins/Captures/One/Other.swift", "private import CSndFile", "CSndFile, which only Plugins/Captures/File/SoundFile.swift"),
        ("Sources/Hemiola/Date.swift", "import FoundationEssentials", "imports FoundationEssentials, which Hemiola does without"),
        ("Sources/HemiolaEngine/Date.swift", "import struct FoundationEssentials.URL", "which HemiolaEngine does without"),
        ("Plugins/Sinks/Two/Date.swift", "import Foundation", "Two/Date.swift imports Foundation, which links ICU"),
        ("Sources/HemiolaCommandLine/Date.swift", "import struct Foundation.URL", "imports Foundation, which links ICU"),
        ("Plugins/Analyzers/Three/Date.swift", "import FoundationEssentials", "which ThreeAnalyzer does without"),
        ("Plugins/Sinks/Two/Arguments.swift", "import ArgumentParser", "ArgumentParser, which belongs to HemiolaCommandLine"),
        ("Sources/HemiolaEngine/New.swift", "import NIOHTTP2", "uses NIOHTTP2, which nobody knows"),
        ("Sources/HemiolaEngine/New.swift", "import NIOCore", "uses NIOCore, which belongs to HemiolaBridge"),
        ("Sources/HemiolaEngine/Spectrum.swift", "import HemiolaSpectrum", "which Package.swift does not list for HemiolaEngine"),
        ("Sources/HemiolaManager/Manager.swift", "", "Sources/HemiolaManager stands on no floor"),
        ("Plugins/Sinks/Four/Four.swift", "", "Plugins/Sinks/Four is no target"),
        ("Plugins/Sinks/Four/Four.swift", "", "Plugins/Sinks/Four has no README.md"),
        ("Plugins/Sinks/Two/README.md", " \n", "Plugins/Sinks/Two has no README.md"),
        (
            "Sources/HemiolaEngine/Box.swift", "/// A box.\nfinal class Box: @unchecked Sendable {}",
            "Box.swift:2 has @unchecked Sendable without a reason"
        ),
        (
            "Sources/HemiolaEngine/Box.swift", "struct Box {\n\n    nonisolated(unsafe) static var count = 0\n}",
            "Box.swift:3 has nonisolated(unsafe) without a reason"
        ),
        ("Package.swift", "room(\"Hemiola\", uses: [\n\"HemiolaEngine\",\n]),", "Package.swift: Hemiola on floor 1 uses HemiolaEngine"),
        (
            "Package.swift",
            "plugin(\"TwoSink\", at: \"Sinks/Two\", uses: [\"OneCapture\"]),\nplugin(\"OneCapture\", at: \"Captures/One\")",
            "Package.swift: the plugin TwoSink uses the plugin OneCapture"
        ),
        ("Package.swift", "room(\"HemiolaManager\")", "the target HemiolaManager, which stands on no floor"),
        ("Package.swift", "room(\"HemiolaEngine\", uses: [arguments])", "HemiolaEngine uses ArgumentParser, which belongs to"),
    ])
    func `a planted violation is found`(path: String, text: String, finding: String) {
        var files = Self.sound
        files[path] = text
        #expect(House(files: files).violations.contains { $0.contains(finding) })
    }

    @Test(arguments: [
        "/// A box.\n///\n/// `@unchecked Sendable`: only one thread has it.\nfinal class Box: @unchecked Sendable {}",
        "// The C library locks.\n@frozen\npublic struct Box: @unchecked Sendable {}",
        "nonisolated(unsafe) var count = 0 // set once, before the threads",
        "// `@unchecked Sendable` is only spoken of.",
    ])
    func `a reason next to it is enough`(text: String) {
        #expect(House.unexplained(in: text).isEmpty)
    }

    @Test func `every form of import is read`() {
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
        #expect(House.imports(in: text) == ["A", "B", "C", "D", "H"])
    }
}
