import Foundation
import TestSupport
import Testing

/// The times of beats in the library of Rekordbox: where it plays the clicks of the original in an MP3 file of several encoders.
@Suite(.needs(.program("lame")), .needs(.ffmpeg)) struct LibraryTimeTests {
    private static let period = 0.5

    private let folder: TemporaryFolder
    /// The time of the first click in the original.
    private let start: Double

    init() throws {
        folder = try TemporaryFolder()
        try Self.run(["analyze", "--capture", "tone:clicks,bpm=120,seconds=12", "--sink", "audio:\(folder("clicks.wav"))"])
        let outcome = try Hemiola.run(["beats", folder("clicks.wav")])
        start = Self.phase(try outcome.lines.map { try #require(Double($0.prefix { $0 != "\t" })) })
    }

    /// The tag with which LAME begins a file.
    enum Tag: String, CaseIterable {
        /// By LAME; in mono after an ID3 tag; of a rate for which a frame is shorter.
        case lame, mono, half
        /// By libavcodec.
        case libavcodec
        /// Without the tag; without LAME's part; with another checksum.
        case none, short, invalid
        /// Two files in one.
        case two

        var encoder: String {
            switch self {
            case .mono: "lame --quiet -V 4 -m m --id3v2-only --tt Title clicks.wav a.mp3"
            case .half: "lame --quiet -b 64 --resample 22.05 clicks.wav a.mp3"
            case .libavcodec: "ffmpeg -v error -i clicks.wav -c:a libmp3lame -b:a 192k a.mp3"
            case .none: "lame --quiet -t -b 192 clicks.wav a.mp3"
            case .two: "lame --quiet -b 192 clicks.wav b.mp3 && cat b.mp3 b.mp3 > a.mp3"
            default: "lame --quiet -b 192 clicks.wav a.mp3"
            }
        }

        /// Frames by which Rekordbox, beyond the delay of 1105 frames, plays the sound later than the original.
        var tagFrames: Double {
            switch self {
            case .lame, .mono, .two: 1152
            case .half: 576
            case .libavcodec, .none, .short, .invalid: 0
            }
        }

        var sampleRate: Double { self == .half ? 22_050 : 44_100 }
    }

    @Test(arguments: Tag.allCases) func `mp3: the grid is where the program plays the clicks`(tag: Tag) throws {
        let outcome = try ChildProcess.run("/bin/sh", ["-c", tag.encoder], in: folder.path)
        try #require(outcome.status == 0, "\(outcome.errors)")
        if tag == .short || tag == .invalid {
            var bytes = try Data(contentsOf: URL(filePath: folder("a.mp3")))
            let place = try #require(bytes.firstRange(of: Data("LAME3".utf8))).lowerBound
            if tag == .short { bytes.replaceSubrange(place..<place + 36, with: Data(count: 36)) } else { bytes[place + 34] ^= 1 }
            try bytes.write(to: URL(filePath: folder("a.mp3")))
        }
        try expect(start + (1105 + tag.tagFrames) / tag.sampleRate, rekordbox(folder("a.mp3")))
    }

    @Test func `part of a file: the grid is that of the whole file`() throws {
        try expect(start, rekordbox(folder("clicks.wav"), "--start", "3.1"))
    }

    /// The beats of MP3 and original differ by a few milliseconds; the shortest delay is 12 ms.
    private func expect(_ time: Double, _ found: Double, at location: SourceLocation = #_sourceLocation) {
        let error = (found - time) - ((found - time) / Self.period).rounded() * Self.period
        #expect(abs(error) < 0.004, "\(error)", sourceLocation: location)
    }

    /// The mean of times modulo the period.
    private static func phase(_ times: [Double]) -> Double {
        let first = times.first ?? .nan
        let errors = times.map { $0 - first - (($0 - first) / period).rounded() * period }
        return first + errors.reduce(0, +) / Double(errors.count)
    }

    private static func run(_ arguments: [String]) throws {
        let outcome = try Hemiola.run(arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    /// The anchor of the grid.
    private func rekordbox(_ path: String, _ options: String...) throws -> Double {
        try Self.run(["beats", path, "-o", folder("a.xml")] + options)
        let tempo = try #require(try folder.text(of: "a.xml").firstMatch(of: /<TEMPO Inizio="([0-9.]+)" Bpm="(119|120)\.[0-9]+"/))
        return try #require(Double(tempo.1))
    }
}
