import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// The unit tests of our page's modules, `Page/*.test.js`, in the browser.
    @Suite struct PageTests {
        @Test(arguments: PageTestCase.all) func `page module`(test: PageTestCase) {
            if let failure = test.failure { Issue.record("\(test.file): \(test.name): \(failure)") }
        }

        @Test func `failing, endless and unloadable tests: each reported with its text`() throws {
            let texts = [
                "/a.test.js": """
                export const tests = [
                    {name: 'passes', run() {}},
                    {name: 'throws', async run() { await 0; throw new Error('1 is not 2'); }},
                    {name: 'never ends', run() { return new Promise(() => {}); }},
                    {name: 'blocks', run() { for (;;); }},
                    {name: 'follows', run() {}},
                ];
                """,
                "/b.test.js": "import './missing.js'; export const tests = [];",
                "/c.test.js": "export const tests = [];",
                PageTestCase.blank.path: PageTestCase.blank.text,
            ]
            let server = try BrowserFileServer(texts: texts)
            let cases = try ["a", "b", "c"].flatMap { name in
                try PageTestCase.run("\(name).test.js", at: "\(server.origin)/\(name).test.js", server, Browser(), timeout: 1)
            }
            #expect(cases.map(\.name) == ["passes", "throws", "never ends", "blocks", "follows", "load", "load"])
            #expect(cases.map { $0.failure == nil } == [true, false, false, false, true, false, false])
            #expect(cases[1].failure?.contains("Error: 1 is not 2") == true)
            #expect(cases[2].failure?.contains("timeout") == true)
            #expect(cases[3].failure?.contains("timeout") == true)
            #expect(cases[5].failure?.contains("missing.js") == true, "\(cases[5].failure ?? "")")
            #expect(cases[6].failure?.contains("no tests") == true)
        }
    }
}

/// A test of a page's module, with its result.
struct PageTestCase: Sendable, CustomTestStringConvertible {
    var file: String
    var name: String
    /// The reason why it failed; nil: it passed.
    var failure: String?

    var testDescription: String { "\(file): \(name)" }

    /// All tests, after they have run: the names of the tests are available only in the browser.
    static let all: [PageTestCase] = {
        guard Browser.tool.isExpected else { return [] }
        let folder = repository + "/Plugins/Sinks/Visualizers/Web/Page/tests"
        let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".test.js") }.sorted()
        do {
            guard !files.isEmpty else { throw Browser.Failure(description: "no tests in \(folder)") }
            let server = try BrowserFileServer(
                folders: [BrowserFileServer.Folder("/Page/", repository + "/Plugins/Sinks/Visualizers/Web/Page")],
                texts: [blank.path: blank.text])
            let browser = try Browser()
            return try files.flatMap { file in
                try run(file, at: "\(server.origin)/Page/tests/\(file)", server, browser, timeout: 300)
            }
        } catch {
            return [PageTestCase(file: "Page", name: "start", failure: "\(error)")]
        }
    }()

    /// An empty page.
    static let blank = (path: "/blank.html", text: "<!doctype html><meta charset=utf-8><title>Test</title>")

    /// Runs the tests of a module in a tab of its own, and in a new one after a test that blocks it.
    ///
    /// - Parameter seconds: The time limit of each test.
    static func run(_ file: String, at url: String, _ server: BrowserFileServer, _ browser: Browser, timeout seconds: Double) throws
        -> [PageTestCase]
    {
        var page = try open(server, browser)
        let names: [String]
        do {
            names = try load(url, page)
            if names.isEmpty { throw Browser.Failure(description: "no tests") }
        } catch {
            return [PageTestCase(file: file, name: "load", failure: "\(error)\n\(page.messages.joined(separator: "\n"))")]
        }
        return try names.enumerated().map { index, name in
            do {
                try page.run(
                    """
                    const late = new Promise((_, fail) => setTimeout(() => fail(new Error('timeout')), \(seconds * 1000)));
                    await Promise.race([tests[\(index)].run(), late]);
                    """, timeout: seconds + 10)
                return PageTestCase(file: file, name: name)
            } catch {
                if (try? page.evaluate("0", as: Int.self, timeout: 5)) == nil {
                    page = try open(server, browser)
                    _ = try load(url, page)
                }
                return PageTestCase(file: file, name: name, failure: "\(error)")
            }
        }
    }

    /// Some browser features require an origin, which about:blank does not have.
    private static func open(_ server: BrowserFileServer, _ browser: Browser) throws -> BrowserPage {
        try browser.open(server.origin + blank.path, size: (640, 360))
    }

    /// Loads a module.
    ///
    /// - Returns: The names of its tests.
    private static func load(_ url: String, _ page: BrowserPage) throws -> [String] {
        try page.evaluate("import('\(url)').then(module => (window.tests = module.tests).map(test => test.name))")
    }
}
