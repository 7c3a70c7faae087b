import Hemiola
import Synchronization
import Testing

@Suite struct SettingTests {
    private static let period = Field.number("period_s", unit: .seconds, in: 1...3600, default: .number(15), "Seconds.")
    private static let count = Field.integer("count", in: 0...10, default: .integer(3), "How many.")
    private static let flag = Field.boolean("flag", default: .boolean(false), "Whether.")
    private static let path = Field.text("path", default: .text("-"), "Where.")
    private static let window = Field.choice("window", of: WindowShape.allCases.map(\.rawValue), default: .text("hann"), "Which.")
    private static let names = Field.texts("names", default: .list([]), "Who.")
    private static let levels = Field.numbers("levels", "How loud.")
    private static let kinds = Field.choices("kinds", of: ["one", "other"], default: .list([]), "Of which kinds.")
    private static let limit = Field.number("limit", nullable: true, in: 0...1, default: ParameterValue.none, "Up to where.")
    private static let program = Field.command("command", example: "./PROGRAM", "What runs.")

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
            (levels, .text("-6+0.5"), .numbers([-6, 0.5])), (levels, .integer(64), .numbers([64])),
            (kinds, .text("other+one"), .texts(["other", "one"])),
            (limit, .text("0.5"), .number(0.5)), (limit, .none, .none),
            (program, .text("./a b"), .text("./a b")), (program, .texts(["./a", "b"]), .texts(["./a", "b"])),
        ] as [(Field, ParameterValue, ParameterValue)])
    func `valid value: converted to the type of the setting`(setting: Field, raw: ParameterValue, value: ParameterValue) throws {
        #expect(try setting.parse(raw) == value)
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
            (levels, .text("512+x"), "\"x\" is not a number"), (levels, .text("1+nan"), "\"nan\" is not a number"),
            (kinds, .text("one+ohter"), "\"ohter\" is not one of one, other; did you mean other?"),
            (limit, .text("2"), "2 is outside 0...1"),
        ] as [(Field, ParameterValue, String)])
    func `invalid value: refused with the reason`(setting: Field, raw: ParameterValue, message: String) {
        let problem = #expect(throws: Problem.self) { try setting.parse(raw) }
        #expect(problem?.message == message)
    }

    @Test(
        arguments: [
            (period, .number(1), nil), (period, .integer(7), "\"period_s\" has another type"),
            (period, .number(0.5), "\"period_s\": 0.5 is outside 1...3600 s"), (period, .none, "\"period_s\" has another type"),
            (count, .integer(11), "\"count\": 11 is outside 0...10"), (count, .text("7"), "\"count\" has another type"),
            (limit, .none, nil), (limit, .number(.nan), nil), (.number("x", minimum: 2, "X."), .number(1), "\"x\": 1 is outside 2..."),
            (names, .texts(["x"]), nil),
            (names, .numbers([1]), "\"names\" has another type"),
            (window, .text("hann"), nil), (window, .text("han"), "\"window\" is one of: hann, hamming, blackman-harris, rectangular"),
        ] as [(Field, ParameterValue, String?)])
    func `value of a message: refused where its type or its range is another`(field: Field, value: ParameterValue, fault: String?) {
        #expect(field.fault(of: value) == fault)
    }

    @Test func `declaration: has type, default and range`() {
        #expect(Self.period.kind == .number && Self.period.defaultValue == .number(15) && Self.period.rangeText == "1...3600 s")
        #expect(Self.count.rangeText == "0...10")
        #expect(Self.path.rangeText == nil)
        #expect(Self.limit.defaultValue == ParameterValue.none)
        #expect(Self.window.kind == .choice(["hann", "hamming", "blackman-harris", "rectangular"]))
        #expect(Self.names.kind.phrase == "text, joined with +")
    }
}

@Suite struct PluginDescriptionTests {
    private struct Part: PluginSettings {
        var limit: Double?

        init(_ read: inout SettingReader) {
            limit = read.number("limit", in: 0...1, "Up to where.")
        }
    }

    private struct Settings: PluginSettings {
        var size: Int
        var window: WindowShape
        var part: Part
        var names: [String]
        var fade: Double

        init(_ read: inout SettingReader) {
            size = read.integer("size", default: 512, in: 64...4096, unit: "frames", "Frames.")
            window = read.choice("window", default: WindowShape.hann, "Which.")
            part = Part(&read)
            names = read.texts("names", "Who.")
            fade = read.milliseconds("fade_ms", default: 20, in: 0...1000, "How slowly.")
        }
    }

    private var plugin: AnalyzerPlugin {
        AnalyzerPlugin(PluginDescription("test", "A test.", primary: "size"), settings: Settings.self) { _ throws(Problem) in
            throw Problem("never made")
        }
    }

    private func values(_ text: String) throws -> (SettingValues?, [String]) {
        var problems: [Problem] = []
        let values = plugin.about.values(from: try PluginSpec(parsing: text), at: .analyzer(2), problems: &problems)
        return (values, problems.map(\.description))
    }

    @Test func `settings: declared only when they are read`() {
        struct Counted: PluginSettings {
            static let count = Mutex(0)
            var size: Int

            init(_ read: inout SettingReader) {
                Self.count.withLock { $0 += 1 }
                size = read.integer("size", default: 512, in: 64...4096, "Frames.")
            }
        }
        let plugin = AnalyzerPlugin(PluginDescription("test", "A test."), settings: Counted.self) { _ throws(Problem) in
            throw Problem("never made")
        }
        #expect(plugin.about.id == "test" && Counted.count.withLock { $0 } == 0)
        #expect(plugin.about.keys == ["size"] && Counted.count.withLock { $0 } == 1)
    }

    @Test func `libraries: listed only when they are read`() {
        enum Listed {
            static let count = Mutex(0)
            static var libraries: [SharedLibrary] {
                count.withLock { $0 += 1 }
                return []
            }
        }
        let about = PluginDescription("test", "A test.", uses: .init(libraries: Listed.libraries))
        #expect(!about.usesNetwork && Listed.count.withLock { $0 } == 0)
        #expect(about.libraries.isEmpty && Listed.count.withLock { $0 } == 1)
    }

    @Test func `missing settings: their defaults, in the order of declaration, those of a part in its place`() throws {
        let values = try #require(try values("test").0)
        #expect(values.parameters.map(\.key) == ["size", "window", "limit", "names", "fade_ms"])
        #expect(values.parameters.map(\.value) == [.integer(512), .text("hann"), .none, .list([]), .number(20)])
        for settings in [Settings(values), Settings()] {
            #expect(settings.size == 512 && settings.window == .hann && settings.part.limit == nil && settings.names == [])
            #expect(settings.fade == 0.02)
        }
    }

    @Test func `given settings: replace the defaults, milliseconds as seconds`() throws {
        let settings = Settings(try #require(try values("test:1024,window=hamming,limit=0.25,names=x+y,fade_ms=500").0))
        #expect(settings.size == 1024 && settings.window == .hamming && settings.part.limit == 0.25)
        #expect(settings.names == ["x", "y"] && settings.fade == 0.5)
    }

    @Test func `several problems: all are reported, with their paths`() throws {
        let (values, problems) = try values("test:1,windo=x,limit=3,colour=red")
        #expect(values == nil)
        #expect(
            problems == [
                "analyzers[2].colour: test has no such setting; there are: size, window, limit, names, fade_ms",
                "analyzers[2].windo: test has no such setting; did you mean window?",
                "analyzers[2].size: 1 is outside 64...4096 frames",
                "analyzers[2].limit: 3 is outside 0...1",
            ])
    }

    @Test func `primary setting given twice: a problem`() throws {
        #expect(try values("test:1024,size=512").1 == ["analyzers[2]: size is given twice: \"1024\" and size="])
    }

    @Test func `primary value for a plugin without a primary setting: a problem`() throws {
        let about = CapturePlugin(PluginDescription("bare", "Bare."), settings: NoSettings.self) { _ throws(Problem) in
            throw Problem("never made")
        }.about
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

    @Test func `short name in the letters of another word: nil`() {
        #expect("nosuch".nearest(in: ["osc", "web"]) == nil)
    }

    @Test func `no names: nil`() {
        #expect("x".nearest(in: []) == nil)
    }
}
