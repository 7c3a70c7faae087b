import HemiolaSystem
import Testing
import WindowCore

@Suite struct WindowArgumentsTests {
    private func arguments(_ text: String...) throws -> WindowArguments { try WindowArguments(text) }

    private func fault(_ text: [String]) -> String? {
        do {
            _ = try WindowArguments(text)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `no argument: the defaults`() throws {
        let parsed = try arguments()
        #expect(parsed.pages.isEmpty && parsed.restores)
        #expect(!parsed.isFullScreen && !parsed.inspects && !parsed.showsHelp)
        #expect(parsed.socket == nil && parsed.hemiola == nil && parsed.monitor == nil && parsed.size == nil && parsed.memoryLimit == nil)
    }

    @Test func `all options, with a value as the next argument or after the equals sign`() throws {
        let parsed = try arguments(
            "stars", "--socket", "/run/s.sock", "--hemiola=/opt/hemiola", "--monitor", "2", "--fullscreen", "--inspect", "--size",
            "1280x720", "--memory-limit=512", "--no-restore", "rain.html", "--", "--odd")
        var expected = try arguments()
        expected.pages = ["stars", "rain.html", "--odd"]
        expected.socket = "/run/s.sock"
        expected.hemiola = "/opt/hemiola"
        expected.monitor = 2
        (expected.isFullScreen, expected.inspects, expected.restores) = (true, true, false)
        expected.size = WindowSize(width: 1280, height: 720)
        expected.memoryLimit = 512
        #expect(parsed == expected)
    }

    @Test func `help`() throws {
        #expect(try arguments("page", "--help").showsHelp)
        #expect(try arguments("-h").showsHelp)
        #expect(WindowArguments.help.split(separator: "\n").allSatisfy { $0.count <= 130 })
    }

    @Test func `every option is in the help`() {
        for option in [
            "--socket", "--hemiola", "--monitor", "--fullscreen", "--inspect", "--size", "--memory-limit", "--no-restore",
        ] {
            #expect(WindowArguments.help.contains("  \(option) "))
            #expect(fault([option, "1"])?.contains("unknown option") != true)
        }
    }

    @Test(arguments: [
        (["--bogus"], "unknown option '--bogus'"), (["--socket"], "missing value for '--socket'"),
        (["--socket="], "--socket: the path is empty"), ([""], "the path of a page is empty"),
        (["--monitor", "0"], "--monitor: 0 is not a whole number in 1...16"), (["--monitor", "x"], "--monitor: x"),
        (["--memory-limit", "64"], "--memory-limit: 64"), (["--size", "1280"], "--size: 1280 is not a size"),
        (["--size", "10x10"], "--size: 10x10"), (["--size", "x"], "--size: x"), (["--size", "99999x720"], "--size: 99999x720"),
        (["--fullscreen=yes"], "--fullscreen has no value"), ([String](repeating: "p", count: 65), "more than 64 pages"),
    ])
    func `an invalid argument is refused with the reason`(_ arguments: [String], _ reason: String) {
        #expect(fault(arguments)?.contains(reason) == true, "\(fault(arguments) ?? "accepted")")
    }

    @Test(arguments: [
        ("stars.html", "stars"), ("shows/rain/index.html", "rain"), ("shows/rain/", "rain"), ("index.html", "index"),
        ("https://a.example/x", "https://a.example/x"), ("/", "/"), ("a.htm", "a"), (".", "."), ("./rain", "rain"),
    ])
    func `the title of a page`(_ page: String, _ title: String) {
        #expect(WindowArguments.title(of: page) == title)
    }

    @Test func `the same page twice: two tabs`() throws {
        let tabs = try arguments("a.html", "a.html").tabs
        #expect(Set(tabs.map(\.id)).count == 2)
        #expect(tabs.map(\.path) == ["a.html", "a.html"])
    }
}
