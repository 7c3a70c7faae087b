import HemiolaSystem
import Testing

@Suite struct LineSplitterTests {
    private typealias Line = LineSplitter.Line

    /// All lines of a text that arrives in pieces.
    private func lines(_ bytes: [UInt8], pieces size: Int, limit: Int = .max, separator: UInt8 = UInt8(ascii: "\n")) -> [Line] {
        var splitter = LineSplitter(limit: limit, separator: separator)
        var lines: [Line] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            splitter.append(bytes[start..<min(start + size, bytes.count)])
            while let line = splitter.next() { lines.append(line) }
        }
        if let line = splitter.finish() { lines.append(line) }
        #expect(splitter.lineNumber == lines.count && splitter.pendingCount == 0)
        #expect(splitter.finish() == nil && splitter.next() == nil)
        return lines
    }

    @Test(arguments: [1, 2, 3, 7, 100]) func `bytes in pieces: lines do not depend on the size of the pieces`(size: Int) {
        let texts = ["one", "", "two\r", "  ", "three é😀", "rest"]
        #expect(lines(Array(texts.joined(separator: "\n").utf8), pieces: size) == texts.map { Line(Array($0.utf8)) })
    }

    @Test(arguments: [1000, 65_536, 3 << 20]) func `line above the limit: its first bytes, once, and the next line`(size: Int) {
        let bytes = [UInt8](repeating: 0x78, count: 3 << 20) + Array("\nnext\n".utf8)
        let start = Line([UInt8](repeating: 0x78, count: 1 << 20), isCut: true)
        #expect(lines(bytes, pieces: size, limit: 1 << 20) == [start, Line(Array("next".utf8))])
    }

    @Test(arguments: [1, 2, 5, 20]) func `line of the limit: whole, one byte more is cut`(size: Int) {
        let expected = [Line([1, 2, 3]), Line([4, 5, 6], isCut: true), Line([8]), Line([1, 1, 1], isCut: true)]
        #expect(lines([1, 2, 3, 10, 4, 5, 6, 7, 10, 8, 10, 1, 1, 1, 1, 1], pieces: size, limit: 3) == expected)
    }

    @Test func `line above the limit without an end: returned at once, the rest is not kept`() {
        var splitter = LineSplitter(limit: 2)
        splitter.append([1, 2, 3])
        #expect(splitter.next() == Line([1, 2], isCut: true))
        splitter.append([4, 5, 6])
        #expect(splitter.next() == nil)
        #expect(splitter.pendingCount == 0)
        splitter.append([10, 7])
        #expect(splitter.next() == nil)
        #expect(splitter.finish() == Line([7]))
    }

    @Test func `separator zero: line feeds belong to the lines`() {
        #expect(lines(Array("a\nb\0c".utf8), pieces: 2, separator: 0) == [Line(Array("a\nb".utf8)), Line(Array("c".utf8))])
    }

    @Test(arguments: [("", true), (" \t\r", true), ("\u{1}", false), (" x", false)]) func `line of white space: blank`(
        text: String, isBlank: Bool
    ) {
        #expect(Line(Array(text.utf8)).isBlank == isBlank)
    }
}
