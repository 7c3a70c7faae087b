import Glibc
import HemiolaSignal
import HemiolaTesting
import Testing

@testable import BeatAnalyzer

@Suite struct `What the user wishes` {
    private static let tempo = 110.0
    private static let period = 60 / tempo
    private static let piece = Music.band(tempo, seconds: 24)
    private static let batch = 1024

    /// The first frame of the batch that begins at or after a moment.
    private static func control(_ control: Control, at seconds: Double) -> StampedControl {
        StampedControl(control, at: Int64((seconds * 44_100 / Double(batch)).rounded(.up)) * Int64(batch), from: "test")
    }

    private static func hear(_ controls: [StampedControl]) async throws -> Hearing {
        try await Hearing(piece, controls: controls)
    }

    @Test(arguments: [(Control.halveTempo, 55.0), (.doubleTempo, 220.0)])
    func `half or double the tempo holds from the next batch on`(wish: Control, tempo: Double) async throws {
        let hearing = try await Self.hear([Self.control(wish, at: 10)])
        #expect(abs(try #require(hearing.value("bpm", at: 9.9)) - Self.tempo) < 1)
        #expect(abs(try #require(hearing.value("bpm", at: 10.05)) - tempo) < 0.02 * tempo)
        for second in stride(from: 11.0, to: 23, by: 0.5) {
            #expect(abs(try #require(hearing.value("bpm", at: second)) - tempo) < 0.02 * tempo, "at \(second)")
        }
        let told = hearing.beats.filter { $0.time > 12 && $0.time < 22 }
        #expect(abs(Double(told.count) - tempo / 6) <= 1.5)
        // They are still beats of the piece.
        for error in hearing.errors(from: 12, first: 0.25, period: min(Self.period, 60 / tempo)) { #expect(abs(error) < 0.035) }
    }

    @Test func `a locked tempo holds until it is unlocked`() async throws {
        let hearing = try await Self.hear([
            Self.control(.lockTempo(beatsPerMinute: 100), at: 8), Self.control(.lockTempo(beatsPerMinute: nil), at: 14),
        ])
        for second in stride(from: 8.05, to: 13.9, by: 0.3) { #expect(hearing.value("bpm", at: second) == 100) }
        for beat in hearing.beats where beat.time > 9 && beat.time < 13.5 { #expect(beat.beatsPerMinute == 100) }
        #expect(abs(try #require(hearing.value("bpm", at: 23)) - Self.tempo) < 1)
    }

    @Test func `taps give the tempo and the phase`() async throws {
        // On every other beat.
        let taps = (0..<4).map { Self.control(.tap, at: 0.25 + Double(12 + 2 * $0) * Self.period) }
        let hearing = try await Self.hear(taps)
        #expect(abs(try #require(hearing.value("bpm", at: 11)) - 55) < 2)
        #expect(abs(try #require(hearing.value("bpm", at: 20)) - 55) < 1)
        let next = hearing.beats.filter { $0.time > 11 && $0.time < 15 }.map(\.time)
        #expect(next.count == 4 || next.count == 3)
        for time in next {
            let beats = (time - 0.25) / (2 * Self.period)
            #expect(abs(beats - beats.rounded()) < 0.05, "at \(time)")
        }
    }

    /// Music in which the tracker by itself prefers another octave, or another tempo altogether, than what is tapped.
    @Test(arguments: [(110, 0.5), (110, 2), (75, 2), (160, 0.5), (64, 2), (92, 2), (110, 0.75), (100, 1.5)] as [(Double, Double)])
    func `a tapped tempo holds for eight beats, whatever the music prefers`(tempo: Double, ratio: Double) async throws {
        let piece = Music.band(tempo, seconds: 24)
        let tapped = 60 / (tempo * ratio)
        let first = 0.25 + 16 * 60 / tempo
        let controls = (0..<5).map { Self.control(.tap, at: first + Double($0) * tapped) }
        let hearing = try await Hearing(piece, controls: controls)
        let last = Double(try #require(controls.last).frame) / 44_100
        for beat in stride(from: 0.1, to: 7.9, by: 0.25) {
            let value = try #require(hearing.value("bpm", at: last + beat * tapped), "after \(beat) beats")
            #expect(abs(value / (tempo * ratio) - 1) < 0.06, "\(value) after \(beat) beats")
        }
        let told = hearing.beats.filter { $0.time > last + 0.5 * tapped && $0.time < last + 7.5 * tapped }
        #expect((6...8).contains(told.count), "\(told.map(\.time))")
    }

    @Test func `a tapped tempo that the music contradicts is given up after its eight beats`() async throws {
        // 75 BPM into music of 110.
        let controls = (0..<5).map { Self.control(.tap, at: 6 + Double($0) * 0.8) }
        let hearing = try await Self.hear(controls)
        #expect(abs(try #require(hearing.value("bpm", at: 15.5)) / 75 - 1) < 0.06)
        let after = try #require(hearing.value("bpm", at: 23))
        #expect(abs(after / Self.tempo - 1) < 0.02 || abs(2 * after / Self.tempo - 1) < 0.02, "\(after)")
    }

    @Test func `of taps at one moment the first counts`() async throws {
        let taps = (0..<4).map { Self.control(.tap, at: 0.25 + Double(12 + 2 * $0) * Self.period) }
        let once = try await Self.hear(taps)
        let often = try await Self.hear(taps.flatMap { Array(repeating: $0, count: 50) })
        #expect(often.beats.map(\.time) == once.beats.map(\.time))
    }

    @Test func `a hundred controls before a frame cost hardly more than one`() {
        func seconds(_ controls: Int) -> Double {
            var tracker = BeatTracker(TempoSpace(frameSeconds: 0.01, tempi: 60...200))
            let clock = ContinuousClock()
            // The fastest of several: what else the machine does comes on top.
            return (1...5).map { round in
                let time = clock.measure {
                    for number in 0..<controls {
                        _ = tracker.lock(100 + Double(number % 50))
                        tracker.tap(at: Double(round) + Double(number) / 1e6)
                        tracker.reset()
                    }
                    tracker.applyCorrection()
                }
                return Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
            }.min()!
        }
        let (one, many) = (seconds(1), seconds(100))
        #expect(many < 20 * one, "\(one) s, then \(many) s")
    }

    @Test func `the bar begins where the user says`() async throws {
        let moment = 0.25 + Self.period * 21
        let hearing = try await Self.hear([Self.control(.setDownbeat, at: moment)])
        let after = hearing.beats.filter { $0.time > moment + 0.3 && $0.time < moment + 3.5 * Self.period }
        #expect(after.map(\.position) == [2, 3, 4])
        let phase = try #require(hearing.value("bar_phase", at: moment + 1.5 * Self.period))
        #expect(abs(phase - 0.375) < 0.06)
    }

    @Test func `to forget means to begin anew`() async throws {
        let hearing = try await Self.hear([Self.control(.halveTempo, at: 8), Self.control(.resetTempo, at: 12)])
        #expect(abs(try #require(hearing.value("bpm", at: 11.9)) - 55) < 1)
        #expect(hearing.value("bpm", at: 12.05) == nil)
        #expect(abs(try #require(hearing.value("bpm", at: 20)) - Self.tempo) < 1)
    }

    @Test func `what cannot be obeyed is refused`() async throws {
        let analyzer = try BeatFixture.analyzer()
        func reply(_ control: Control) -> String? {
            guard case .refused(let reason) = analyzer.obey(StampedControl(control, at: 0, from: "test")) else { return nil }
            return reason
        }
        #expect(reply(.halveTempo) == "there is no tempo yet")
        #expect(reply(.setDownbeat) == "there is no beat yet")
        #expect(reply(.lockTempo(beatsPerMinute: 1000)) == "1000.0 BPM is outside 30.0...240.0")
        #expect(reply(.lockTempo(beatsPerMinute: -1)) != nil)
        #expect(reply(.lockTempo(beatsPerMinute: .nan)) != nil)
        #expect(analyzer.obey(StampedControl(.nextPreset, at: 0, from: "test")) == nil)
    }

    @Test func `the same wishes give the same answers`() async throws {
        let wishes = [
            Self.control(.tap, at: 5), Self.control(.doubleTempo, at: 8), Self.control(.setDownbeat, at: 9),
            Self.control(.lockTempo(beatsPerMinute: 90), at: 12), Self.control(.resetTempo, at: 15),
        ]
        let (one, other) = (try await Self.hear(wishes), try await Self.hear(wishes))
        #expect(one.stream == other.stream)
    }
}
