import HemiolaSystem
import Testing

@testable import HemiolaCommandLine
@testable import HemiolaEngine

@Suite struct ProgressLineTests {
    private static let plain = TerminalStyle(usesUnicode: false, colors: .none)

    private static let song = ProgressLine(
        name: "song.flac", fraction: 0.5, seconds: 90, speed: 212.4, remaining: 12, index: 2, count: 7)

    @Test(arguments: [
        (120, "song.flac ####################.................... 50 %  212× real time  0:12 left  file 3 of 7"),
        (80, "song.flac ############............ 50 %  212× real time  0:12 left  file 3 of 7"),
        (60, "song.flac ###########........... 50 %  212×  0:12 left  3/7"),
        (40, "so~.flac ####..... 50 %  0:12 left  3/7"), (28, "so~.flac ######....... 50 %"), (10, "50 %"), (5, "50 %"), (4, ""),
        (0, ""),
    ])
    func `progress line: details according to the width`(width: Int, line: String) {
        #expect(Self.song.rendered(width: width, style: Self.plain) == line)
    }

    @Test(arguments: 0...200)
    func `progress line: shorter than the width of the terminal`(width: Int) {
        for name in ["a", "song.flac", String(repeating: "long/", count: 50)] {
            for fraction in [nil, 0, 1] as [Double?] {
                var line = Self.song
                line.name = name
                line.fraction = fraction
                #expect(line.rendered(width: width, style: Self.plain).count <= max(width - 1, 0))
            }
        }
    }

    @Test func `long name: shortened in the middle`() {
        var line = Self.song
        line.name = "music/an artist/an album with a long name/07 the song.flac"
        #expect(line.rendered(width: 80, style: Self.plain).hasPrefix("mus~ng.flac ###########..........."))
        let unicode = line.rendered(width: 80, style: TerminalStyle(usesUnicode: true, colors: .none))
        #expect(unicode.hasPrefix("mus…ng.flac █"))
    }

    @Test func `wide characters: counted as two columns`() {
        var line = Self.song
        line.name = "音楽音楽音楽音楽音楽音楽音楽音楽"
        #expect(line.rendered(width: 80, style: Self.plain).hasPrefix("音~音楽音楽 ###########..........."))
    }

    @Test func `control characters in a name: escaped`() {
        var line = Self.song
        line.name = "a\u{1B}[2J"
        #expect(line.rendered(width: 120, style: Self.plain).hasPrefix("a\\u001b[2J "))
    }

    @Test func `unknown duration: no bar`() {
        let line = ProgressLine(name: "-", fraction: nil, seconds: 83, speed: 3.44, remaining: nil)
        #expect(line.rendered(width: 80, style: Self.plain) == "- 1:23  3.4× real time")
    }

    @Test func `color: in the bar only`() {
        let line = Self.song.rendered(width: 60, style: TerminalStyle(usesUnicode: false, colors: .sixteen))
        #expect(line == "song.flac \u{1B}[36m###########\u{1B}[2m...........\u{1B}[0m 50 %  212×  0:12 left  3/7")
    }

    @Test(arguments: [
        (["LANG": "de_DE.UTF-8", "TERM": "xterm"], true, ColorDepth.sixteen),
        (["LC_ALL": "C", "LANG": "de_DE.UTF-8", "TERM": "vt100"], false, .sixteen),
        (["LANG": "C.utf8", "TERM": "xterm", "NO_COLOR": "1"], true, .none), ([:], false, .none), (["TERM": "dumb"], false, .none),
        (["TERM": "tmux-256color"], false, .palette), (["TERM": "xterm-256color", "COLORTERM": "truecolor"], false, .full),
        (["TERM": "xterm-direct", "NO_COLOR": ""], false, .full),
    ])
    func `environment variables: select Unicode and colours`(environment: [String: String], unicode: Bool, colors: ColorDepth) {
        #expect(TerminalStyle { environment[$0] } == TerminalStyle(usesUnicode: unicode, colors: colors))
    }

    @Test(arguments: [
        (FileDescriptor.Destination.terminal, FileDescriptor.Destination.nowhere, "xterm", true), (.terminal, .file, "xterm", true),
        (.terminal, .terminal, "xterm", false), (.terminal, .pipe, "xterm", false), (.terminal, .file, "dumb", false),
        (.file, .file, "xterm", false), (.pipe, .nowhere, "xterm", false),
    ])
    func `bar: shown only if no records appear on the terminal`(
        error: FileDescriptor.Destination, output: FileDescriptor.Destination, terminal: String, fits: Bool
    ) {
        #expect(ProgressLine.fits(standardError: error, standardOutput: output, terminal: terminal) == fits)
        #expect(!ProgressLine.fits(standardError: error, standardOutput: output, terminal: nil))
    }
}

@Suite struct ProgressMeterTests {
    private func progress(_ seconds: Double, of duration: Double?, index: Int = 0, count: Int = 1) -> PipelineProgress {
        PipelineProgress(seconds: seconds, duration: duration, streamIndex: index, streamCount: count, streamName: "a.wav")
    }

    @Test func `short run: no progress line`() {
        var meter = ProgressMeter(start: 10)
        let early = meter.line(for: progress(1, of: 100), at: 10.6)
        let late = meter.line(for: progress(1, of: 100), at: 10.75)
        #expect(early == nil)
        #expect(late != nil)
    }

    @Test func `speed and remaining time: computed from the progress`() throws {
        var meter = ProgressMeter(start: 0)
        _ = meter.line(for: progress(0, of: 100), at: 0)
        let found = meter.line(for: progress(25, of: 100), at: 1)
        let line = try #require(found)
        #expect(line.fraction == 0.25)
        #expect(line.speed == 25)
        #expect(line.remaining == 3)
    }

    @Test func `every file counts the same`() throws {
        var meter = ProgressMeter(start: 0)
        _ = meter.line(for: progress(0, of: 10, index: 2, count: 4), at: 0.9)
        let found = meter.line(for: progress(5, of: 10, index: 2, count: 4), at: 1)
        let line = try #require(found)
        #expect(line.fraction == 0.625)
        #expect(line.speed == nil)
        #expect((line.index, line.count) == (2, 4))
    }

    @Test func `a source without a length has no fraction`() throws {
        var meter = ProgressMeter(start: 0)
        let found = meter.line(for: progress(5, of: nil), at: 1)
        let line = try #require(found)
        #expect(line.fraction == nil)
        #expect(line.remaining == nil)
    }

    @Test func `a file that is longer than it says is not more than done`() {
        var meter = ProgressMeter(start: 0)
        let line = meter.line(for: progress(11, of: 10), at: 1)
        #expect(line?.fraction == 1)
    }
}
