import Foundation
import Testing

/// The guides of the plugin API against the example package, and the recipes against the plugins that they quote.
@Suite struct GuideTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let recipes = "Sources/Hemiola/Hemiola.docc/PluginRecipes.md"
    /// A line of a block that stands for lines of the file.
    private static let omission: Substring = "// …"

    @Test(arguments: [
        ("WriteAnAnalyzer", ["Sources/MyPlugins/ZeroCrossings.swift", "Tests/MyPluginsTests/ZeroCrossingsTests.swift"]),
        (
            "WriteASink",
            ["Sources/MyPlugins/UDP.swift", "Sources/MyPlugins/Meter.swift", "Tests/MyPluginsTests/UDPTests.swift"]
        ),
        ("WriteACapture", ["Sources/MyPlugins/Metronome.swift", "Tests/MyPluginsTests/MetronomeTests.swift"]),
        ("WriteADirector", ["Sources/MyPlugins/Lamps.swift", "Tests/MyPluginsTests/LampsTests.swift"]),
        ("WriteAControlSource", ["Sources/MyPlugins/ControlLines.swift", "Tests/MyPluginsTests/ControlLinesTests.swift"]),
    ])
    func `Swift blocks of a guide: the files of the example, in full and in order`(guide: String, files: [String]) throws {
        let text = try Self.text("Sources/Hemiola/Hemiola.docc/\(guide).md")
        let blocks = text.split(separator: "```swift\n", omittingEmptySubsequences: false).dropFirst()
            .map { $0[..<($0.firstRange(of: "```")?.lowerBound ?? $0.endIndex)] }
        let code = try files.map { try Self.text("examples/custom-plugin/\($0)") }
        #expect(blocks.count >= files.count)
        // Blank lines separate the blocks.
        #expect(Self.lines(blocks.joined()) == Self.lines(code.joined()))
    }

    @Test(arguments: ["WriteAnAnalyzer", "WriteASink", "WriteACapture", "WriteADirector", "WriteAControlSource"])
    func `guide: linked from the page of the module, and leads on to the recipes`(guide: String) throws {
        #expect(try Self.text("Sources/Hemiola/Hemiola.docc/Hemiola.md").contains("- <doc:\(guide)>"))
        #expect(try Self.text("Sources/Hemiola/Hemiola.docc/\(guide).md").contains("<doc:PluginRecipes>"))
    }

    @Test func `recipes: linked from the page of the module`() throws {
        #expect(try Self.text("Sources/Hemiola/Hemiola.docc/Hemiola.md").contains("- <doc:PluginRecipes>"))
    }

    @Test func `block of the recipes: lines of the file that is named last before it, in order`() throws {
        var path = ""
        var quotations = 0
        // Text and blocks in turn. The first line of a block is its language.
        for (index, part) in try Self.text(Self.recipes).components(separatedBy: "\n```").enumerated() {
            if index.isMultiple(of: 2) {
                path = Self.paths(in: part).last ?? path
                continue
            }
            if part.hasPrefix("sh\n") { continue }
            quotations += 1
            let file = Self.lines(try Self.text(path))
            var rest = file[...]
            for piece in Self.lines(part).dropFirst().split(separator: Self.omission) {
                guard let range = rest.firstRange(of: piece) else {
                    Issue.record("\(path) does not contain, or not in this order:\n\(piece.joined(separator: "\n"))")
                    break
                }
                rest = rest[range.upperBound...]
            }
        }
        #expect(quotations > 10)
    }

    @Test func `paths in the recipes: all exist`() throws {
        let paths = Self.paths(in: try Self.text(Self.recipes))
        #expect(paths.count > 30)
        for path in paths { #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: path).path), "\(path)") }
    }

    @Test func `numbers of lines in the recipes: those of the files, within a fifth`() throws {
        let text = try Self.text(Self.recipes)
        let lengths = text.matches(of: /`([^`\s]+)`\s\((\d+)\slines\)/)
        #expect(lengths.count > 9)
        for length in lengths {
            let count = try Self.text(String(length.1)).split(separator: "\n", omittingEmptySubsequences: false).count - 1
            let named = try #require(Int(length.2))
            #expect(abs(count - named) <= named / 5, "\(length.1) has \(count) lines")
        }
    }

    /// The files and folders of the repository that a text names, in order.
    private static func paths(in text: String) -> [String] {
        text.matches(of: /`((?:Sources|Plugins|Libraries|Tests|docs|packaging|scripts)\/[^`\s]+)`/).map { String($0.1) }
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n")
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}
