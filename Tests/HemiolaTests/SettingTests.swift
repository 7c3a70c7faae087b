import Hemiola
import HemiolaRecords
import HemiolaSignal
import HemiolaSystem
import Synchronization
import Testing

@Suite struct SettingTests {
    private static let period = Setting("period_s", default: 15.0, in: 1...3600, unit: .seconds, "Seconds.").declared
    private static let count = Setting("count", default: 3, in: 0...10, "How many.").declared
    private static let flag = Setting("flag", default: false, "Whether.").declared
    private static let path = Setting("path", default: "-", "Where.").declared
    private static let window = Setting("window", default: WindowShape.hann, "Which.").declared
    private static let names = Setting("names", default: [String](), "Who.").declared
    private static let sizes = Setting("sizes", default: [512, 1024], "How large.").declared
    private static let limit = Setting<Double?>("limit", in: 0.0...1, "Up to where.").declared

    @Test(
        arguments: [
            (period, .text("2.5"), .number(2.5)), (period, .text("1e2"), .number(100)), (period, .integer(7), .number(7)),
            (period, .number(3600), .number(3600)), (period, .text("1"), .number(1)),
            (count, .text("7"), .integer(7)), (count, .integer(0), .integer(0)), (count, .number(4), .integer(4)),
            (flag, .text("true"), .boolean(true)), (flag, .text("YES"), .boolean(true)), (flag, .text("on"), .boolean(true)),
            (flag, .text("1"), .boolean(true)), (flag, .text("off"), .boolean(false)), (flag, .text("0"), .boolean(false)),
            (flag, .boolean(true), .boolean(true)),
            (path, .text("a b"), .text("a b")), (path, .text(""), .text("")), (path, .integer(7), .text("7")),
            (path, .boolean(true), .text("true")),
            (window, .text("blackman-harris"), .text("blackman-harris")),
            (names, .text("a+b"), .list([.text("a"), .text("b")])), (names, .text("a"), .list([.text("a")])),
            (names, .text(""), .list([])), (names, .list([.text("x")]), .list([.text("x")])),
            (sizes, .text("256+512"), .list([.integer(256), .integer(512)])), (sizes, .integer(64), .list([.integer(64)])),
            (limit, .text("0.5"), .number(0.5)),
        ] as [(DeclaredSetting, ParameterValue, ParameterValue)])
    func `valid value: converted to the type of the setting`(setting: DeclaredSetting, raw: ParameterValue, value: ParameterValue) throws {
        #expect(try setting.check(raw).get() == value)
    }

    @Test(
        arguments: [
            (period, .text("0"), "0 is outside 1...3600 s"), (period, .number(3600.5), "3600.5 is outside 1...3600 s"),
            (period, .text("soon"), "\"soon\" is not a number within 1...3600 s"),
            (period, .text("nan"), "\"nan\" is not a number within 1...3600 s"),
            (period, .text("inf"), "\"inf\" is not a number within 1...3600 s"),
            (period, .text(""), "\"\" is not a number within 1...3600 s"),
            (period, .number(.nan), "\"nan\" is not a number within 1...3600 s"),
            (period, .boolean(true), "\"true\" is not a number within 1...3600 s"),
            (count, .text("11"), "11 is outside 0...10"), (count, .integer(-1), "-1 is outside 0...10"),
            (count, .text("1.5"), "\"1.5\" is not a whole number within 0...10"),
            (count, .number(1.5), "\"1.5\" is not a whole number within 0...10"),
            (flag, .text("maybe"), "\"maybe\" is not true or false"), (flag, .integer(1), "\"1\" is not true or false"),
            (window, .text("han"), "\"han\" is not one of hann, hamming, blackman-harris, rectangular; did you mean hann?"),
            (window, .text("kaiser"), "\"kaiser\" is not one of hann, hamming, blackman-harris, rectangular"),
            (sizes, .text("512+x"), "\"x\" is not a whole number"),
            (limit, .text("2"), "2 is outside 0...1"),
        ] as [(DeclaredSetting, ParameterValue, String)])
    func `invalid value: refused with the reason`(setting: DeclaredSetting, raw: ParameterValue, message: String) {
        guard case .failure(let fault) = setting.check(raw) else {
            Issue.record("\(raw) was taken")
            return
        }
        #expect(fault.message == message)
    }

    @Test func `declaration: has type, default and range`() {
        #expect(Self.period.kind == .number && Self.period.defaultValue == .number(15) && Self.period.rangeText == "1...3600 s")
        #expect(Self.count.rangeText == "0...10")
        #expect(Self.path.rangeText == nil)
        #expect(Self.limit.defaultValue == .none)
        #expect(Self.window.kind == .choice(["hann", "hamming", "blackman-harris", "rectangular"]))
        #expect(Self.names.kind.name == "text, joined with +")
    }
}

@Suite struct PluginDescriptionTests {
    private static let size = Setting("size", default: 512, in: 64...4096, unit: "frames", "Frames.")
    private static let window = Setting("window", default: WindowShape.hann, "Which.")
    private static let limit = Setting<Double?>("limit", in: 0.0...1, "Up to where.")
    private static let names = Setting("names", default: ["a"], "Who.")

    private var plugin: AnalyzerPlugin {
        AnalyzerPlugin(
            "test", "A test.", settings: [Self.size.declared, Self.window.declared, Self.limit.declared, Self.names.declared],
            primary: "size"
        ) { _ throws(Problem) in throw Problem("never made") }
    }

    private func values(_ text: String) throws -> (SettingValues?, [String]) {
        var problems: [Problem] = []
        let values = plugin.about.values(from: try PluginSpec(parsing: text), at: .analyzer(2), problems: &problems)
        return (values, problems.map(\.description))
    }

    @Test func `settings: declared only when they are read`() {
        let count = Mutex(0)
        let plugin = AnalyzerPlugin(
            "test", "A test.",
            settings: {
                count.withLock { $0 += 1 }
                return [Self.size.declared]
            }()
        ) { _ throws(Problem) in throw Problem("never made") }
        #expect(plugin.about.id == "test" && count.withLock { $0 } == 0)
        #expect(plugin.about.keys == ["size"] && count.withLock { $0 } == 1)
    }

    @Test func `missing settings: their defaults, in the order of declaration`() throws {
        let values = try #require(try values("test").0)
        #expect(values.parameters.map(\.key) == ["size", "window", "limit", "names"])
        #expect(values.parameters.map(\.value) == [.integer(512), .text("hann"), .none, .list([.text("a")])])
        #expect(values[Self.size] == 512 && values[Self.window] == .hann && values[Self.limit] == nil && values[Self.names] == ["a"])
    }

    @Test func `given settings: replace the defaults`() throws {
        let values = try #require(try values("test:1024,window=hamming,limit=0.25,names=x+y").0)
        #expect(values[Self.size] == 1024 && values[Self.window] == .hamming && values[Self.limit] == 0.25)
        #expect(values[Self.names] == ["x", "y"])
    }

    @Test func `several problems: all are reported, with their paths`() throws {
        let (values, problems) = try values("test:1,windo=x,limit=3,colour=red")
        #expect(values == nil)
        #expect(
            problems == [
                "analyzers[2].colour: test has no such setting; there are: size, window, limit, names",
                "analyzers[2].windo: test has no such setting; did you mean window?",
                "analyzers[2].size: 1 is outside 64...4096 frames",
                "analyzers[2].limit: 3 is outside 0...1",
            ])
    }

    @Test func `primary setting given twice: a problem`() throws {
        #expect(try values("test:1024,size=512").1 == ["analyzers[2]: size is given twice: \"1024\" and size="])
    }

    @Test func `primary value for a plugin without a primary setting: a problem`() throws {
        let about = CapturePlugin("bare", "Bare.") { _ throws(Problem) in throw Problem("never made") }.about
        var problems: [Problem] = []
        #expect(about.values(from: PluginSpec("bare", primary: .text("x")), at: .capture(0), problems: &problems) == nil)
        #expect(problems.map(\.description) == ["captures[0]: bare takes no \"x\" without a key; write key=value"])
        problems = []
        #expect(
            about.values(from: PluginSpec("bare", settings: ["zzz": .text("1")]), at: .capture(0), problems: &problems) == nil)
        #expect(problems.map(\.description) == ["captures[0].zzz: bare has no such setting; it has none"])
    }
}

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("levls", "levels"), ("levles", "levels"), ("LEVELS", "levels"), ("spec", "spectrum"), ("spektrum", "spectrum"),
        ("beats", "beat"), ("json-line", "json-lines"),
    ])
    func `misspelled name: found`(typed: String, name: String) {
        #expect(typed.nearest(in: ["levels", "spectrum", "visualizer", "beat", "json-lines"]) == name)
    }

    @Test(arguments: ["", "zzzzzz", "completely-different"])
    func `name unlike all others: nil`(typed: String) {
        #expect(typed.nearest(in: ["levels", "spectrum", "visualizer"]) == nil)
    }

    @Test func `no names: nil`() {
        #expect("x".nearest(in: []) == nil)
    }
}
