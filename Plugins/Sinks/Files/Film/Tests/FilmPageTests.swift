import Hemiola
import TestSupport
import Testing

@testable import FilmSink

/// Pages in a real Chromium, without a stream.
@Suite(
    .serialized,
    .enabled(if: Tool.program("chromium-headless-shell").isExpected, "chromium-headless-shell is not installed"))
struct FilmPageTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Opens the sink with a page that has this script, and closes it.
    private func open(_ script: String, limit: Double = 60, context: SinkContext = SinkContext(name: "film")) throws {
        try folder.write(
            "<!doctype html><html><head><meta charset=\"utf-8\"></head><body><script>\(script)</script></body></html>", to: "index.html")
        let plugin = SinkPlugin.film(limits: FilmLimits(loading: limit, picture: limit), presets: { nil })
        var problems: [Problem] = []
        let spec = try PluginSpec(parsing: "film:\(folder("film.mp4")),page=\(folder.path),width=64,height=64")
        let sink = try plugin.make(#require(plugin.about.values(from: spec, problems: &problems), "\(problems)"))
        try sink.open(context)
        try sink.close()
    }

    @Test func `page that throws: ends it with the page's words`() throws {
        let problem = #expect(throws: Problem.self) { try open("setTimeout(() => { throw new Error('out of paint') }, 50)") }
        #expect(problem?.message.contains("out of paint") == true)
    }

    @Test func `page that hangs: ends it after the limit`() throws {
        // The page begins to hang only when its timers run, so that the limit is not that of the browser's start.
        let problem = #expect(throws: Problem.self) { try open("setTimeout(() => { for (;;); }, 50)", limit: 5) }
        #expect(problem?.message.contains("within 5 s") == true)
    }

    @Test func `page with clocks of its own: each kind is named once`() throws {
        let warnings = Watched<[String]>([])
        let context = SinkContext(name: "film", messages: SinkMessages(warn: { warning in warnings.change { $0.append(warning) } }))
        try open("new AudioContext(); new AudioContext(); new Worker(URL.createObjectURL(new Blob([''])));", context: context)
        #expect(warnings.value.count == 2 && warnings.value[0].contains("WebAudio") && warnings.value[1].contains("Worker"))
    }

    @Test func `clocks of the page: those of the film, and the timers come in their order`() throws {
        try open(
            """
            const times = [];
            const note = (name) => times.push([name, performance.now(), Date.now() - Date.UTC(2000, 0, 1)]);
            setTimeout(() => note("b"), 250);
            setTimeout(() => note("a"), 125.5);
            const timer = setInterval(() => { note("i"); if (times.length > 3) clearInterval(timer); }, 100);
            setTimeout(() => {
                const text = JSON.stringify(times);
                const wanted = '[["i",-2900,-2900],["a",-2874.5,-2875],["i",-2800,-2800],["b",-2750,-2750],["i",-2700,-2700]]';
                if (text !== wanted) throw new Error(text);
            }, 600);
            """)
    }

    @Test func `requests of the page: its folder and nothing else, and the next time waits for them`() throws {
        try folder.write("inside", to: "a.txt")
        try folder.write("hidden", to: ".b.txt")
        try open(
            """
            const read = (address) => fetch(address).then((response) => response.status, () => "refused");
            const waiting = Promise.all([read("a.txt"), read(".b.txt"), read("../c.txt"), read("http://example.com/"), read("file:///etc/passwd")]);
            let statuses = "";
            waiting.then((list) => (statuses = list.join(" ")));
            setTimeout(() => { if (statuses !== "200 404 404 refused refused") throw new Error(statuses); }, 1);
            """)
    }

    @Test func `caches of the page: the next time waits for them`() throws {
        try open(
            """
            let names = "";
            caches.open("a").then((cache) => cache.keys()).then((keys) => caches.keys()).then((list) => (names = list.join(" ")));
            setTimeout(() => { if (names !== "a") throw new Error(names); }, 1);
            """)
    }
}
