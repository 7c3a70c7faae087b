import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// Calls of a page's functions, imports, and the page's errors and messages.
    @Suite struct CallTests {
        private let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
        }

        /// Functions that return values, nothing, late values, errors and no JSON.
        private static let functions = """
            window.pushSamples = () => {};
            window.getPresetNames = () => ['One', 'Two'];
            window.sum = async (...values) => { await 0; return {sum: values.reduce((a, b) => a + b, 0)}; };
            window.nothing = () => {};
            window.fails = () => { throw new RangeError('out of range'); };
            window.rejects = () => Promise.reject(new Error('not now'));
            window.circle = () => { const value = {}; value.self = value; return value; };
            window.endless = () => new Promise(() => {});
            window.slow = async () => {
                for (let step = 1; step <= 3; step++) {
                    hemiola.progress(step);
                    await new Promise(done => setTimeout(done, 100));
                }
                return 'done';
            };
            window.importFile = async (name, base64) => {
                window.file = {name, bytes: Uint8Array.from(atob(base64), c => c.charCodeAt(0))};
                const digest = await crypto.subtle.digest('SHA-256', window.file.bytes);
                return {name, size: window.file.bytes.length, sha256: [...new Uint8Array(digest)].map(b => b.toString(16).padStart(2, '0')).join('')};
            };
            """

        /// The page is closed when it is released.
        private func start(_ script: String, web: String = "port=0") throws -> (WebProgram, BrowserPage) {
            let page =
                "<!doctype html><html><head><meta charset=utf-8><title>Host</title></head><body><script>\(script)</script></body></html>"
            try folder.write(page, to: "index.html")
            let program = try WebProgram(web: "\(web),page=\(folder.path)")
            let tab = try Browser().open(program.url)
            try program.next("control", ["control": .text("ready")])
            return (program, tab)
        }

        @Test func `call: prints the value, also of a function that returns nothing`() throws {
            let (program, page) = try start(Self.functions)
            for (arguments, value) in [
                (["function=getPresetNames"], #"["One","Two"]"#), (["function=sum", "arguments=[1,2.5]"], #"{"sum":3.5}"#),
                (["function=nothing"], "null"), (["function=slow"], #""done""#),
            ] {
                let outcome = try program.send("call", arguments)
                #expect(outcome.status == 0, "\(outcome)")
                #expect(outcome.output.trimmingCharacters(in: .newlines) == value, "\(outcome)")
            }
            #expect(page.errors == [])
        }

        @Test func `call that fails: one error line, and the next call works`() throws {
            let (program, page) = try start(Self.functions)
            defer { withExtendedLifetime(page) {} }
            for (name, text) in [
                ("fails", "out of range"), ("rejects", "not now"), ("circle", "circular"), ("missing", "no function"),
                ("alert", "no function"),
            ] {
                let outcome = try program.send("call", ["function=\(name)"])
                #expect(outcome.status == 1 && (outcome.errors + outcome.output).contains(text), "\(name): \(outcome)")
            }
            #expect(try program.send("call", ["function=sum", "arguments=[1]"]).status == 0)
        }

        @Test func `endless call: an error after the time limit; samples flow meanwhile`() throws {
            let (program, page) = try start(Self.functions)
            try page.run("window.count = 0; hemiola.addEventListener('samples', () => count += 1)")
            let outcome = try program.send("call", ["function=endless", "--timeout", "3"])
            #expect(outcome.status == 1, "\(outcome)")
            #expect(try page.evaluate("count", as: Int.self) > 60)
            #expect(try program.send("call", ["function=nothing"]).status == 0)
        }

        @Test func `import: the page gets the file's name and bytes, without a gap in the samples`() throws {
            let (program, page) = try start(Self.functions)
            try page.run("window.sequences = []; hemiola.addEventListener('samples', event => sequences.push(event.detail.sequence))")
            var state: UInt32 = 1
            let bytes = (0..<3_000_001).map { _ in
                state = state &* 1_664_525 &+ 1_013_904_223
                return UInt8(state >> 24)
            }
            try program.folder.write(bytes, to: "Élan 1.milk")
            let outcome = try program.send("import", ["Élan 1.milk"])
            #expect(outcome.status == 0, "\(outcome)")
            let value = try JSONDecoder().decode(JSONValue.self, from: Data(outcome.output.utf8))
            #expect(value["name"] == .text("Élan 1.milk") && value["size"] == .number(3_000_001), "\(outcome)")
            let sum = try ChildProcess.run("/usr/bin/sha256sum", [program.folder("Élan 1.milk")])
            #expect(value["sha256"]?.text == String(sum.output.prefix(64)))
            #expect(try page.evaluate("sequences.every((value, i) => i === 0 || value === sequences[i - 1] + 1)", as: Bool.self))
        }

        @Test func `errors of the page: in the program's log, limited in number`() throws {
            let (program, page) = try start(
                """
                window.pushSamples = () => {};
                window.getPresetNames = () => [];
                setTimeout(() => { throw new TypeError('no such shader'); }, 10);
                setTimeout(() => Promise.reject(new Error('a rejected answer')), 20);
                setTimeout(() => { for (let i = 0; i < 500; i++) setTimeout(() => { throw new Error('flood'); }); }, 1000);
                """)
            defer { withExtendedLifetime(page) {} }
            for text in ["no such shader", "a rejected answer"] {
                #expect(try program.process.readErrorLine(containing: text).contains("warning"))
            }
            _ = try program.process.readErrorLine(containing: "flood")
            usleep(1_000_000)
            let outcome = try program.stop()
            #expect(outcome.errorLines.count { $0.contains("flood") } < 30, "\(outcome.errors)")
        }

        @Test func `message of a further handler: a record of the stream`() throws {
            let (program, page) = try start(
                "window.pushSamples = () => {}; window.getPresetNames = () => [];", web: "port=0,handlers=sceneHandler")
            try page.run("webkit.messageHandlers.sceneHandler.postMessage({scene: 'night', level: 2})")
            let record = try program.next("message")
            #expect(record["handler"] == .text("sceneHandler"), "\(record)")
            #expect(record["body"]?.text == #"{"scene":"night","level":2}"# || record["body"]?["scene"] == .text("night"), "\(record)")
        }
    }
}
