import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HemiolaCommandLine

/// Collects the output of a console.
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

    @Test func `message: begins with the name of the program`() {
        #expect(written { $0.error("it broke") } == "hemiola: it broke\n")
        #expect(written { $0.warning("it is odd") } == "hemiola: warning: it is odd\n")
    }

    @Test func `quiet: prints errors only`() {
        let text = written(Console.Verbosity(isQuiet: true)) {
            $0.warning("odd")
            $0.error("broken")
        }
        #expect(text == "hemiola: broken\n")
    }

    @Test func `details: printed at the requested verbosity`() {
        let print: (Console) -> Void = { console in
            console.note("one")
            console.note("two", detail: 2)
        }
        #expect(written(Console.Verbosity(), print).isEmpty)
        #expect(written(Console.Verbosity(detail: 1), print) == "hemiola: one\n")
        #expect(written(Console.Verbosity(detail: 2), print) == "hemiola: one\nhemiola: two\n")
    }

    @Test func `line breaks and control characters in a message: escaped, one line`() {
        #expect(written { $0.error("a\nb\tc\u{1B}[31m\u{85}é") } == "hemiola: a\\nb\\tc\\u001b[31m\\u0085é\n")
    }

    @Test func `message while a bar is shown: printed above the bar`() {
        let text = written {
            $0.show(bar: "50 %")
            $0.error("broken")
            $0.endBar()
        }
        let bar = "\r\u{1B}[?7l50 %\u{1B}[J\u{1B}[?7h\r"
        #expect(text == bar + "\r\u{1B}[Jhemiola: broken\n" + bar + "\r\u{1B}[J")
    }

    @Test func `held messages: shown without their newline and without figures, written in full when they are released`() {
        let (output, shown) = (Log(), Log())
        let printer = MessagePrinter(hasThread: false, write: { output.append($0) }, writeStatus: { output.append($0) })
        printer.hold { shown.append("[\($0)]") }
        printer.print("hemiola: web: open http://127.0.0.1\n")
        printer.print("\u{1B}[47m  \u{1B}[0m\n", isFigure: true)
        #expect(shown.text == "[hemiola: web: open http://127.0.0.1]" && output.text.isEmpty)
        printer.release()
        #expect(output.text == "hemiola: web: open http://127.0.0.1\n\u{1B}[47m  \u{1B}[0m\n")
    }

    @Test func `no bar shown: endBar writes nothing`() {
        #expect(written { $0.endBar() }.isEmpty)
    }

    @Test func `bar after endBar: not shown again`() {
        let text = written {
            $0.endBar()
            $0.show(bar: "50 %")
            $0.error("broken")
        }
        #expect(text == "hemiola: broken\n")
    }
}

/// The printer with a separate thread.
@Suite(.mayNotHang) struct MessagePrinterTests {
    /// An output that blocks until it is released.
    private final class BlockedOutput: Sendable {
        private let isOpen = Watched(false)
        private let written = Watched("")

        var text: String { written.value }

        func write(_ text: String) {
            _ = isOpen.wait { $0 }
            written.change { $0 += text }
        }

        func open() { isOpen.change { $0 = true } }

        /// Waits for a text after which a condition holds.
        func wait(until condition: (String) -> Bool) -> Bool { written.wait(until: condition) }
    }

    @Test func `blocked output: messages are kept up to the capacity, the rest is counted and reported later`() {
        let output = BlockedOutput()
        let printer = MessagePrinter(write: output.write, writeStatus: output.write)
        let message = String(repeating: "x", count: 1023) + "\n"
        let count = MessagePrinter.capacity / 1024 + 100
        for _ in 0..<count { printer.print(message) }
        #expect(!printer.finish(timeout: 0.05))
        #expect(output.text.isEmpty)
        output.open()
        #expect(output.wait { $0.contains("not printed") })
        let lines = output.text.split(separator: "\n")
        let printed = lines.count { $0.hasPrefix("xx") }
        // The thread may have taken one chunk out of the queue before it was full.
        #expect((count - 100...count - 80).contains(printed))
        #expect(lines.last == "hemiola: \(count - printed) messages were not printed: the terminal or pipe accepted no text")
        printer.print("again\n")
        #expect(output.wait { $0.hasSuffix("again\n") })
    }

    @Test func `blocked output: of the status line only the newest state is written`() {
        let output = BlockedOutput()
        let printer = MessagePrinter(write: output.write, writeStatus: output.write)
        for number in 0..<1000 { printer.show(status: "state \(number)") }
        output.open()
        #expect(output.wait { $0.contains("state 999") })
        #expect(output.text.components(separatedBy: "state").count <= 3)
        #expect(printer.finish(timeout: 60, limit: 120))
    }

    @Test func `blocked output: finish waits once`() {
        let output = BlockedOutput()
        let printer = MessagePrinter(write: output.write, writeStatus: output.write)
        printer.print("one\n")
        #expect(!printer.finish(timeout: 0.05))
        // The second wait must not repeat the timeout, which is an hour.
        #expect(!printer.finish(timeout: 3600, limit: 7200))
        output.open()
    }

    @Test func `finish: waits until all messages are written`() {
        let output = BlockedOutput()
        let printer = MessagePrinter(write: output.write, writeStatus: output.write)
        for number in 0..<2000 { printer.print("message \(number) with some text to make it longer\n") }
        output.open()
        #expect(printer.finish(timeout: 60, limit: 120))
        #expect(output.text.split(separator: "\n").count == 2000)
    }
}
