import Foundation
import Testing

@Suite struct ArchitectureTests {
    @Test func `this checkout: no violations`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let architecture = try Architecture(root: root)
        #expect(!architecture.files.isEmpty)
        #expect(architecture.violations == [])
    }

    // MARK: - The checks

    @Test(arguments: [
        ("Sources/HemiolaSignal/RealFFT.swift", "internal import CFFTW"), ("Plugins/Captures/Pulse/Client/Server.swift", "import CPulse"),
        ("Plugins/Sinks/Two/Two.swift", "import FoundationEssentials\nimport Hemiola"),
    ])
    func `in its place: no violations`(path: String, text: String) {
        #expect(Architecture(files: [path: text]).violations == [])
    }

    @Test(arguments: [
        ("Sources/HemiolaSignal/Other.swift", "import CFFTW", "CFFTW, which only Sources/HemiolaSignal/RealFFT.swift may import"),
        ("Plugins/Captures/One/Other.swift", "private import CPulse", "CPulse, which only Plugins/Captures/Pulse/Client/ may import"),
        ("Sources/HemiolaCommandLine/Date.swift", "import struct Foundation.URL", "imports Foundation, which links ICU"),
        (
            "Sources/HemiolaEngine/Box.swift", "/// A box.\nfinal class Box: @unchecked Sendable {}",
            "Box.swift:2 has @unchecked Sendable without a reason"
        ),
        (
            "Sources/HemiolaEngine/Box.swift", "struct Box {\n\n    nonisolated(unsafe) static var count = 0\n}",
            "Box.swift:3 has nonisolated(unsafe) without a reason"
        ),
        ("Sources/Hemiola/Bytes.swift", "let byte = UInt8(bitPattern: character)", "Bytes.swift converts a CChar with bitPattern"),
        ("Plugins/Sinks/Two/Time.swift", "let start = ContinuousClock.now", "has ContinuousClock, which belongs to"),
        ("Plugins/Sinks/Two/Time.swift", "let start = MonotonicTime.now", "has MonotonicTime.now, which belongs to"),
        ("Sources/HemiolaEngine/Now.swift", "let time = time(nil)", "has time(nil, which belongs to"),
        ("Plugins/Sinks/Two/Size.swift", "guard fstat(file, &status) == 0 else {", "has fstat(, which belongs to HemiolaSystem"),
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
        ("Plugins/Sinks/Two/Trouble.swift", "struct Trouble: Hashable, Error {", "declares the error Trouble; throw a Problem"),
        ("Sources/HemiolaEngine/Trouble.swift", "    package enum Bad: Error, Sendable {", "declares the error Bad; throw a Problem"),
    ])
    func `violation: reported`(path: String, text: String, message: String) {
        #expect(Architecture(files: [path: text]).violations.contains { $0.contains(message) })
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
                import G
            let important = "import I"
            """
        #expect(Architecture.imports(in: text) == ["A", "B", "C", "D"])
    }
}
