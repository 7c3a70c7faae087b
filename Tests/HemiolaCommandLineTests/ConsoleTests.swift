import Synchronization
import Testing

@testable import HemiolaCommandLine

/// Takes what a console writes.
final class Log: Sendable {
    private let written = Mutex("")

    var text: String { written.withLock { $0 } }

    func append(_ text: String) {
        written.withLock { $0 += text }
    }
}

@Suite struct ConsoleTests {
    private func written(_ verbosity: Console.Verbosity = Console.Verbosity(), _ body: (Console) -> Void) -> String {
        let log = Log()
        body(Console(verbosity) { log.append($0) })
        return log.text
    }

    @Test func `every line says who speaks`() {
        #expect(written { $0.error("it broke") } == "hemiola: it broke\n")
        #expect(written { $0.warning("it is odd") } == "hemiola: warning: it is odd\n")
    }

    @Test func `quiet leaves errors`() {
        let text = written(Console.Verbosity(isQuiet: true)) {
            $0.warning("odd")
            $0.error("broken")
        }
        #expect(text == "hemiola: broken\n")
    }

    @Test func `details are for those who asked`() {
        let speak: (Console) -> Void = { console in
            console.note("one")
            console.note("two", detail: 2)
        }
        #expect(written(Console.Verbosity(), speak).isEmpty)
        #expect(written(Console.Verbosity(detail: 1), speak) == "hemiola: one\n")
        #expect(written(Console.Verbosity(detail: 2), speak) == "hemiola: one\nhemiola: two\n")
    }

    @Test func `a message is one line whatever is in it`() {
        #expect(written { $0.error("a\nb\tc\u{1B}[31m\u{85}é") } == "hemiola: a\\nb\\tc\\u{1b}[31m\\u{85}é\n")
    }

    @Test func `a message comes above the bar`() {
        let text = written {
            $0.show(bar: "50 %")
            $0.error("broken")
            $0.endBar()
        }
        #expect(text == "\r50 %\u{1B}[K" + "\r\u{1B}[Khemiola: broken\n50 %\u{1B}[K" + "\r\u{1B}[K")
    }

    @Test func `where no bar was, none is taken away`() {
        #expect(written { $0.endBar() }.isEmpty)
    }

    @Test func `a bar that was taken away does not come back`() {
        let text = written {
            $0.endBar()
            $0.show(bar: "50 %")
            $0.error("broken")
        }
        #expect(text == "hemiola: broken\n")
    }
}
