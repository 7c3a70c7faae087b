import Foundation
import Hemiola
import HemiolaFiles
import HemiolaPlugins
import Testing

@testable import HemiolaCommandLine
@testable import HemiolaEngine

/// The options of `listen` and `devices`, and their output on a terminal.
@Suite struct ListenTests {
    private static let registry = PluginRegistry(
        captures: [
            CapturePlugin(
                PluginDescription("live", "Never ends.", primary: "device"), settings: LiveSettings.self,
                devices: { () throws(Problem) in
                    DeviceList(
                        server: "Server 1",
                        devices: [
                            DeviceList.Device(
                                name: "hdmi.monitor", summary: "Monitor of 音楽", format: StreamFormat(sampleRate: 48_000, channelCount: 2),
                                monitorOf: "hdmi", isDefault: true, state: .running, isMuted: true, volume: 1),
                            DeviceList.Device(
                                name: "mic", summary: "Microphone", format: StreamFormat(sampleRate: 44_100, channelCount: 1),
                                isDefault: true, state: .suspended, volume: 0.05),
                        ])
                }, make: { _ in Never() })
        ],
        sinks: [
            SinkPlugin(
                PluginDescription("json-lines", ""), settings: NoSettings.self,
                make: { _ throws(Problem) in
                    throw Problem("never made")
                })
        ],
        liveCapture: PluginSpec("live"))

    private struct LiveSettings: PluginSettings {
        var device: String
        var wait: Bool

        init(_ read: inout SettingReader) {
            device = read.text("device", default: "auto", "Which.")
            wait = read.boolean("wait", default: false, "Whether to wait.")
        }
    }

    private final class Never: Capture {
        var isLive: Bool { true }
        func open(_ request: FormatRequest) throws(Problem) -> StreamSource { throw Problem("never opened") }
        func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult { .end }
        func close() {}
    }

    private func command(_ arguments: [String]) throws -> ListenCommand {
        try HemiolaCommandLineTests.command(ListenCommand.self, arguments)
    }

    private func configuration(_ arguments: [String]) throws -> PipelineConfiguration {
        try command(arguments).builder(with: Self.registry, display: nil).configuration
    }

    @Test func `no options: captures the default device at the default rate of the server`() throws {
        let configuration = try configuration([])
        #expect(configuration.captures == [PluginSpec("live")])
        #expect(configuration.sampleRate == nil)
        #expect(configuration.sinks == [PluginSpec("json-lines")])
    }

    @Test func `options: set in the capture's settings`() throws {
        let configuration = try configuration(["--device", "app:Fire,fox=x", "--wait", "--rate", "native", "-o", "a.jsonl"])
        #expect(
            configuration.captures
                == [PluginSpec("live", primary: .text("app:Fire,fox=x"), settings: ["wait": .boolean(true)])])
        #expect(configuration.sampleRate == 0)
        #expect(configuration.sinks == [PluginSpec("json-lines", primary: .text("a.jsonl"))])
    }

    @Test(arguments: ["fast", "44.1k", "-1x", ""]) func `invalid --rate: refused`(rate: String) {
        #expect(throws: Failure.self) { try Root.parsed(["listen", "--rate", rate]) }
    }

    @Test func `--rate out of range: one error line`() throws {
        let builder = try command(["--rate", "1000"]).builder(with: Self.registry, display: nil)
        let failure = try #require(throws: Failure.self) { try builder.assemble() }
        #expect(failure.lines.contains("--rate: 1000 is outside 8000...384000 Hz"))
    }

    @Test(
        arguments: [
            ([], "terminal"), (["--json"], nil), (["--sink", "csv:x"], "live-line"), (["-o", "x"], "live-line"),
            (["--select", "levels"], nil),
            (["--batch", "512"], "terminal"), (["--select", "levels", "-o", "x"], "live-line"), (["-q"], "terminal"),
            (["-q", "-o", "x"], nil), (["--line"], "live-line"), (["--line", "--json"], nil),
        ] as [([String], String?)])
    func `display on a terminal: the view, or the line beside other outputs, unless an option requests records`(
        arguments: [String], display: String?
    ) throws {
        let command = try self.command(arguments)
        #expect(command.display(on: .terminal, terminal: "xterm") == display)
        #expect(command.display(on: .terminal, terminal: "dumb") == display.map { _ in "live-line" })
        #expect(command.display(on: .pipe, terminal: "xterm") == nil)
    }

    @Test(arguments: [
        ([], ["live-line"]), (["-o", "x"], ["json-lines", "live-line"]), (["--sink", "quiet"], ["quiet", "live-line"]),
        (["--sink", "writer"], ["writer"]), (["--sink", "spare"], ["spare", "live-line"]),
        (["--sink", "quiet", "-o", "x"], ["quiet", "json-lines", "live-line"]),
    ])
    func `live line: shown in addition to sinks that do not use standard output`(arguments: [String], sinks: [String]) throws {
        struct PathSettings: PluginSettings {
            var path: String

            init(_ read: inout SettingReader) {
                path = read.text("path", default: "-", "Where.")
            }
        }
        func sink(_ id: String, _ needs: SinkPlugin.Needs = SinkPlugin.Needs()) -> SinkPlugin {
            SinkPlugin(
                PluginDescription(id, "", primary: "path"), settings: PathSettings.self, needs: { _ in needs },
                make: { _ throws(Problem) in throw Problem("never made") })
        }
        let registry = Self.registry.adding(sinks: [
            .liveLine(on: Console(output: { _ in })), sink("quiet"), sink("writer", SinkPlugin.Needs(standardOutput: true)),
            sink("spare", SinkPlugin.Needs(spareStandardOutput: true)), sink("json-lines"),
        ])
        let command = try self.command(arguments)
        let builder = try command.builder(with: registry, display: SinkPlugin.liveLineID)
        #expect(builder.configuration.sinks.map(\.id) == sinks)
    }

    @Test(arguments: [
        (["--json", "--sink", "presets:names=x"], ["presets", "json-lines"]), (["--json"], ["json-lines"]),
        (["--json", "--sink", "csv"], ["csv"]), (["--sink", "presets:names=x"], ["presets"]),
    ])
    func `--json with sinks: JSON Lines on standard output, unless a sink uses it`(arguments: [String], sinks: [String]) throws {
        let builder = try command(arguments).builder(with: .standard, display: nil)
        #expect(builder.configuration.sinks.map(\.id) == sinks)
    }

    @Test func `--capture: replaces the live capture, runs at real-time speed`() throws {
        let builder = try command(["--capture", "live:mic", "--capture", "live:hdmi"])
            .builder(with: Self.registry, display: nil)
        #expect(builder.configuration.captures == [PluginSpec("live", primary: .text("mic")), PluginSpec("live", primary: .text("hdmi"))])
        #expect(builder.configuration.isPaced)
        #expect(throws: Failure.self) {
            try command(["--capture", "live:mic", "--device", "hdmi"]).builder(with: Self.registry, display: nil)
        }
        let wrong = try command(["--capture", "live:mic,nothing=1"]).builder(with: Self.registry, display: nil)
        let failure = try #require(throws: Failure.self) { try wrong.assemble() }
        #expect(failure.lines.contains { $0.hasPrefix("--capture live:nothing=1: ") }, "\(failure.lines)")
    }

    // MARK: - Devices

    @Test func `devices: table with aligned columns`() throws {
        let devices = try #require(Self.registry.captures[0].devices)
        let list = try devices()
        #expect(
            DevicesCommand.table(list) == """
                   NAME          DESCRIPTION      HZ     CHANNELS  STATE      VOLUME
                *  hdmi.monitor  Monitor of 音楽  48000  2         running    muted
                   mic           Microphone       44100  1         suspended  5 %

                """)
    }

    @Test func `devices as JSON: all fields`() throws {
        let devices = try #require(Self.registry.captures[0].devices)
        let list = try devices()
        let object = try JSONSerialization.jsonObject(with: Data(DevicesCommand.json([("live", list)]).line.utf8))
        let printed = try #require((object as? [String: Any])?["devices"] as? [[String: Any]])
        #expect(printed.map { $0["name"] as? String } == ["hdmi.monitor", "mic"])
        #expect(printed[0]["monitor_of"] as? String == "hdmi" && printed[1]["monitor_of"] is NSNull)
        #expect(printed[1]["sample_rate"] as? Int == 44_100 && printed[1]["channels"] as? Int == 1)
        #expect(printed[0]["muted"] as? Bool == true && printed[1]["volume"] as? Double == 0.05)
        #expect(printed[1]["default"] as? Bool == true && printed[1]["state"] as? String == "suspended")
    }

    // MARK: - The live line

    private static let plain = TerminalStyle(usesUnicode: false, colors: .none)

    private static func line(
        _ name: String, level: Float? = nil, bars: [Float] = [], tempo: Float? = nil, lost: Double = 0, dropped: Int64 = 0
    ) -> LiveState {
        var state = LiveState()
        state.name = name
        state.level = level
        state.bars = bars
        state.tempo = tempo
        state.lost = lost
        state.dropped = dropped
        return state
    }

    private static let example = line(
        "Monitor of HDMI", level: -18.4, bars: (0..<24).map { Float($0) / 23 }, tempo: 123.6, lost: 0.25, dropped: 3)

    private static func text(_ state: LiveState, width: Int, _ style: TerminalStyle = plain, at now: Double = 0) -> String {
        state.line(width: width, style: style, at: now)
    }

    @Test func `live line without audio: notice, no level, bars at zero`() {
        var line = Self.line("HDMI", level: -3, bars: Array(repeating: 1, count: 16), tempo: 120)
        let style = TerminalStyle(usesUnicode: true, colors: .none)
        #expect(Self.text(line, width: 80, style).contains("████████"))
        line.showOutage(of: "HDMI")
        let text = Self.text(line, width: 80, style)
        #expect(text.hasPrefix("(no audio) HDMI") && text.contains("-inf dB"))
        #expect(!text.contains("█") && !text.contains("BPM"))
    }

    @Test func `live line: bars fill the width between level and tempo`() {
        let text = Self.text(Self.example, width: 120)
        #expect(text.hasPrefix("Monitor of HDMI   -18 dB ########....  "))
        #expect(text.hasSuffix("####  124 BPM  lost 0.3 s  dropped 3"))
        #expect(text.columns == 119)
        var line = Self.example
        line.isTempoLocked = true
        line.preset = "Rain"
        line.show("tap", at: 0)
        let noticed = Self.text(line, width: 120)
        #expect(noticed.columns == 119 && noticed.contains("....  tap  ") && noticed.contains("124 BPM locked  Rain  lost"))
        var quiet = Self.line("x", level: -.infinity)
        #expect(Self.text(quiet, width: 80) == "x  -inf dB ............")
        quiet.level = nil
        #expect(Self.text(quiet, width: 80) == "x")
    }

    @Test(arguments: [8, 24, 80]) func `live line: every bar shows, stretched or merged`(count: Int) {
        var bars = [Float](repeating: 0, count: count)
        bars[count - 1] = 1
        let text = Self.text(Self.line("x", bars: bars, tempo: 120), width: 60)
        #expect(text.columns == 59 && text.contains("#  120 BPM"))
    }

    @Test(arguments: 0...140) func `live line: shorter than the width of the terminal`(width: Int) {
        for name in ["a", "Monitor of HDMI", String(repeating: "long ", count: 50), "音楽音楽音楽音楽"] {
            for tempo in [nil, 120] as [Float?] {
                for bars in [[], Self.example.bars, [Float](repeating: .nan, count: 64)] {
                    var line = Self.line(name, level: -3, bars: bars, tempo: tempo, lost: tempo == nil ? 0 : 1)
                    Self.addBeats(to: &line.beats)
                    line.beats.advance(to: 12)
                    #expect(Self.text(line, width: width).columns <= max(width - 1, 0))
                }
            }
        }
    }

    // MARK: - Beats

    /// Beats at 120 BPM in bars of three, from a second on, in a stream whose time 0 is that of the clock at 10 s.
    private static func addBeats(to pulse: inout BeatPulse) {
        pulse.clock.add(end: 0, at: 10)
        for beat in 0..<9 {
            pulse.add(Beat(beatsPerMinute: 120, position: beat % 3 + 1, confidence: 1), at: 1 + Double(beat) / 2)
        }
    }

    @Test func `beats: each lights up when it sounds, and its dot is the position in the bar`() {
        var pulse = BeatPulse()
        #expect(pulse.dots(at: 0, Self.plain) == nil)
        Self.addBeats(to: &pulse)
        pulse.advance(to: 10.99)
        #expect(pulse.last == nil && pulse.light(at: 10.99) == 0)
        pulse.advance(to: 11)
        #expect(pulse.position == 1 && pulse.light(at: 11) == 1 && pulse.phase(at: 11.25) == 0.5)
        // The bar's length is known with the second downbeat.
        #expect(pulse.dots(at: 11, Self.plain) == "#" && pulse.dots(at: 11.4, Self.plain) == ".")
        pulse.advance(to: 13.01)
        #expect(pulse.count == 5 && pulse.position == 2 && pulse.beatsPerBar == 3)
        #expect(pulse.dots(at: 13.01, Self.plain) == ".#." && pulse.dots(at: 13.4, Self.plain) == ".*.")
        // Beats that are overdue are not guessed.
        pulse.advance(to: 20)
        #expect(pulse.count == 9 && pulse.phase(at: 30) == nil)
    }

    @Test func `beats: with a lead they light up earlier`() {
        var pulse = BeatPulse()
        Self.addBeats(to: &pulse)
        pulse.advance(to: 10.8, lead: 0.2)
        #expect(pulse.count == 1 && pulse.light(at: 10.8) == 1)
    }

    @Test func `drums: the letter of each shows while it sounds`() {
        var pulse = BeatPulse()
        Self.addBeats(to: &pulse)
        for (voice, time) in [("kick", 1.0), ("hihat", 1), ("snare", 1.5)] { pulse.add(drum: voice, at: time) }
        pulse.advance(to: 11)
        #expect(pulse.dots(at: 11.05, Self.plain) == "# K.H" && pulse.dots(at: 11.15, Self.plain) == "# ...")
        pulse.advance(to: 11.5)
        #expect(pulse.dots(at: 11.55, Self.plain) == "# .S.")
    }

    // MARK: - Notices

    @Test func `notices of devices and silence: device names for users`() {
        let format = StreamFormat(sampleRate: 44_100, channelCount: 1)
        let opened = DeviceEvent(name: "hdmi.monitor", summary: "Monitor of HDMI", state: .opened, format: format)
        #expect(
            PipelineNotice.device(input: "x", opened).text
                == "listening to \"Monitor of HDMI\" (hdmi.monitor), 44100 Hz, 1 channel")
        #expect(
            PipelineNotice.silence(input: "Monitor of HDMI", seconds: 5).text
                == "silence on \"Monitor of HDMI\"; if music is playing, select its device; see: hemiola devices")
    }

    @Test func `status line and messages on different outputs: each written to its own`() {
        let (messages, bars) = (Log(), Log())
        let console = Console(output: { messages.append($0) }, barOutput: { bars.append($0) })
        console.show(bar: "one")
        console.warning("two")
        console.endBar()
        #expect(messages.text == "hemiola: warning: two\n")
        let line = "\r\u{1B}[?7lone\u{1B}[J\u{1B}[?7h\r"
        #expect(bars.text == line + "\r\u{1B}[J" + line + "\r\u{1B}[J")
    }

    // MARK: - Keys

    @Test func `keys: letters, space and arrows are parsed, also when they arrive in parts`() {
        var parser = TerminalKeyParser()
        #expect(parser.keys(in: Array(" lrhdqx".utf8)) == [.tap, .lock, .range, .half, .double, .quit])
        #expect(
            parser.keys(in: Array("\u{1B}[C\u{1B}[D\u{1B}[A\u{1B}[B\u{1B}OC\u{1B}[1;5D".utf8)) == [
                .next, .previous, .previous, .next, .next, .previous,
            ])
        #expect(parser.keys(in: Array("\u{1B}".utf8)).isEmpty)
        #expect(parser.keys(in: Array("[".utf8)).isEmpty)
        #expect(parser.keys(in: Array("C".utf8)) == [.next])
        #expect(parser.keys(in: Array("\u{1B}q\u{1B}[5~q".utf8)) == [.quit, .quit])
        #expect(parser.keys(in: Array("1\t4?tm".utf8)) == [.layout(0), .nextLayout, .layout(3), .help, .theme, .channels])
    }

    @Test func `clicks: the left button when it is pressed, from 0 on`() {
        var parser = TerminalKeyParser()
        #expect(parser.keys(in: Array("\u{1B}[<0;12;7M\u{1B}[<0;12;7m".utf8)) == [.click(column: 11, row: 6)])
        let others = [
            "\u{1B}[<2;1;1M", "\u{1B}[<64;1;1M", "\u{1B}[<0;1M", "\u{1B}[<99999999999999999999;1;1M", "\u{1B}[M",
        ]
        for bytes in others + ["\u{1B}[<" + String(repeating: "0;", count: 1000) + "M"] {
            #expect(parser.keys(in: Array(bytes.utf8)).isEmpty, "\(bytes)")
        }
        #expect(parser.keys(in: Array("q".utf8)) == [.quit])
    }
}
