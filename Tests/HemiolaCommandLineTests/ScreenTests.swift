import Testing

@testable import HemiolaCommandLine

@Suite struct ScreenTests {
    private static func text(_ screen: inout Screen) -> String { String(decoding: screen.changes(), as: UTF8.self) }

    @Test func `block beside a blank falls: the blank is written again; nothing changes: nothing is written`() {
        var screen = Screen(.none)
        screen.resize(columns: 6, rows: 1)
        screen.set("█", row: 0, column: 1)
        screen.set("█", row: 0, column: 3)
        _ = screen.changes()
        screen.clear()
        screen.set("█", row: 0, column: 3)
        // The blank at 1, and the gap at 2.
        #expect(Self.text(&screen) == "\u{1B}[1;2H  ")
        #expect(Self.text(&screen) == "")
        screen.set("▄", row: 0, column: 3)
        #expect(Self.text(&screen) == "\u{1B}[1;4H▄ ")
    }

    @Test func `letter beside a blank changes: only the letter is written`() {
        var screen = Screen(.none)
        screen.resize(columns: 6, rows: 1)
        screen.put("a", row: 0, column: 1)
        _ = screen.changes()
        screen.put("b", row: 0, column: 1)
        #expect(Self.text(&screen) == "\u{1B}[1;2Hb")
    }
}
