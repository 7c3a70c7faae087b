import Glibc
import Hemiola
import HemiolaTesting
import Testing

@testable import BeatAnalyzer

@Suite struct BeatControlTests {
    private static let tempo = 110.0
    private static let period = 60 / tempo
    private static let piece = TestMusic.band(tempo, seconds: 24)
    private static let batch = 1024

    /// A control stamped with the first batch that starts at or after a time.
    private static func control(_ control: Control, at seconds: Double) -> StampedControl {
        StampedControl(control, at: Int64((seconds * 44_100 / Double(batch)).rounded(.up)) * Int64(batch), from: "test")
    }

    private static func analyze(_ controls: [StampedControl]) async throws -> BeatAnalysis {
        try await BeatAnalysis(piece, controls: controls)
    }

    @Test(arguments: [(Control(.halveTempo), 55.0), (Control(.doubleTempo), 220.0)])
    func `halveTempo and doubleTempo: change the tempo from the next batch on`(control: Control, tempo: Double) async throws {
        let analysis = try await Self.analyze([Self.control(control, at: 10)])
        #expect(abs(try #require(analysis.value("bpm", at: 9.9)) - Self.tempo) < 1)
        #expect(abs(try #require(analysis.value("bpm", at: 10.05)) - tempo) < 0.02 * tempo)
        for second in stride(from: 11.0, to: 23, by: 0.5) {
            let bpm = try #require(analysis.value("bpm", at: second))
            // The model's intervals are whole frames: 3.7 % apart at 220 BPM.
            #expect(abs(bpm - tempo) < (tempo > 200 ? 0.025 : 0.02) * tempo, "\(bpm) at \(second)")
        }
        let emitted = analysis.beats.filter { $0.time > 12 && $0.time < 22 }
        #expect(abs(Double(emitted.count) - tempo / 6) <= 1.5)
        // All emitted beats are beats, or half beats, of the piece.
        for error in analysis.errors(from: 12, first: 0.25, period: min(Self.period, 60 / tempo)) { #expect(abs(error) < 0.035) }
    }

    @Test func `lockTempo: keeps the tempo until it is unlocked`() async throws {
        let analysis = try await Self.analyze([
            Self.control(Control(.lockTempo, .number(100)), at: 8), Self.control(Control(.lockTempo, .none), at: 14),
        ])
        for second in stride(from: 8.05, to: 13.9, by: 0.3) { #expect(analysis.value("bpm", at: second) == 100) }
        for beat in analysis.beats where beat.time > 9 && beat.time < 13.5 { #expect(beat.beatsPerMinute == 100) }
        #expect(abs(try #require(analysis.value("bpm", at: 23)) - Self.tempo) < 1)
    }

    @Test func `lockTempo without a tempo: keeps the current one`() async throws {
        let analysis = try await Self.analyze([Self.control(Control(.lockTempo), at: 10)])
        let locked = try #require(analysis.value("bpm", at: 10.05))
        #expect(abs(locked - Self.tempo) < 1)
        for second in stride(from: 10.05, to: 23, by: 0.3) { #expect(analysis.value("bpm", at: second) == locked) }
    }

    @Test(arguments: [(40, 80, 55), (150, 240, 220), (90, 130, 110)] as [(Double, Double, Double)])
    func `tempoRange: the tempo is in it from the next batch on, also after resetTempo`(
        slowest: Double, fastest: Double, tempo: Double
    ) async throws {
        let analysis = try await Self.analyze([
            Self.control(Control(.tempoRange, .number(slowest), .number(fastest)), at: 8), Self.control(Control(.resetTempo), at: 15),
        ])
        for second in [8.05, 10, 12, 14.9, 21, 23] {
            let bpm = try #require(analysis.value("bpm", at: second), "\(second)")
            #expect(abs(bpm / tempo - 1) < 0.03, "\(bpm) at \(second)")
        }
    }

    @Test func `tempoRange that is taken back: all tempi again; doubleTempo moves the range`() async throws {
        let analysis = try await Self.analyze([
            Self.control(Control(.tempoRange, .number(40), .number(80)), at: 8), Self.control(Control(.doubleTempo), at: 12),
            Self.control(Control(.tempoRange), at: 16),
        ])
        #expect(abs(try #require(analysis.value("bpm", at: 11.9)) - 55) < 2)
        for second in [12.05, 15.9, 20, 23] { #expect(abs(try #require(analysis.value("bpm", at: second)) - 110) < 2, "\(second)") }
    }

    @Test(arguments: [0, 1])
    func `tap while half the tempo is locked: chooses every second beat, and the tempo stays exact`(offset: Int) async throws {
        let lock = Self.control(Control(.lockTempo, .number(Self.tempo / 2)), at: 8)
        let tap = Self.control(Control(.tap), at: 0.25 + Double(20 + offset) * Self.period)
        let analysis = try await Self.analyze([lock, tap])
        let beats = analysis.beats.filter { $0.time > 12 && $0.time < 18 }
        #expect(beats.count >= 5)
        for beat in beats {
            #expect(abs(beat.beatsPerMinute - Self.tempo / 2) < 0.01)
            let number = (beat.time - 0.25) / Self.period
            #expect(abs(number - number.rounded()) < 0.1 && Int(number.rounded()) % 2 == offset, "at \(beat.time)")
        }
    }

    @Test func `tap: four even taps set tempo and phase`() async throws {
        // Taps on every second beat.
        let taps = (0..<4).map { Self.control(Control(.tap), at: 0.25 + Double(12 + 2 * $0) * Self.period) }
        let analysis = try await Self.analyze(taps)
        #expect(abs(try #require(analysis.value("bpm", at: 11)) - 55) < 2)
        #expect(abs(try #require(analysis.value("bpm", at: 20)) - 55) < 1)
        let next = analysis.beats.filter { $0.time > 11 && $0.time < 15 }.map(\.time)
        #expect(next.count == 4 || next.count == 3)
        for time in next {
            let beats = (time - 0.25) / (2 * Self.period)
            #expect(abs(beats - beats.rounded()) < 0.05, "at \(time)")
        }
    }

    /// The tapped tempo differs from the tempo that the tracker estimates without taps.
    @Test(arguments: [(110, 0.5), (110, 2), (75, 2), (160, 0.5), (64, 2), (92, 2), (110, 0.75), (100, 1.5)] as [(Double, Double)])
    func `tap: a tapped tempo that differs from the estimate is kept for eight beats`(tempo: Double, ratio: Double) async throws {
        let piece = TestMusic.band(tempo, seconds: 24)
        let tapped = 60 / (tempo * ratio)
        let first = 0.25 + 16 * 60 / tempo
        let controls = (0..<5).map { Self.control(Control(.tap), at: first + Double($0) * tapped) }
        let analysis = try await BeatAnalysis(piece, controls: controls)
        let last = Double(try #require(controls.last).frame) / 44_100
        for beat in stride(from: 0.1, to: 7.9, by: 0.25) {
            let value = try #require(analysis.value("bpm", at: last + beat * tapped), "after \(beat) beats")
            #expect(abs(value / (tempo * ratio) - 1) < 0.06, "\(value) after \(beat) beats")
        }
        let emitted = analysis.beats.filter { $0.time > last + 0.5 * tapped && $0.time < last + 7.5 * tapped }
        #expect((6...8).contains(emitted.count), "\(emitted.map(\.time))")
    }

    @Test func `tap: a tapped tempo that contradicts the music ends after its eight beats`() async throws {
        // Taps of 75 BPM in music of 110 BPM.
        let controls = (0..<5).map { Self.control(Control(.tap), at: 6 + Double($0) * 0.8) }
        let analysis = try await Self.analyze(controls)
        #expect(abs(try #require(analysis.value("bpm", at: 15.5)) / 75 - 1) < 0.06)
        let after = try #require(analysis.value("bpm", at: 23))
        #expect(abs(after / Self.tempo - 1) < 0.02 || abs(2 * after / Self.tempo - 1) < 0.02, "\(after)")
    }

    @Test func `tap: 50 taps in one batch have the effect of one`() async throws {
        let taps = (0..<4).map { Self.control(Control(.tap), at: 0.25 + Double(12 + 2 * $0) * Self.period) }
        let once = try await Self.analyze(taps)
        let often = try await Self.analyze(taps.flatMap { Array(repeating: $0, count: 50) })
        #expect(often.beats.map(\.time) == once.beats.map(\.time))
    }

    @Test func `100 controls before a frame cost less than 20 times as much as one`() {
        func seconds(_ controls: Int) -> Double {
            var tracker = BeatTracker(BeatStateSpace(frameSeconds: 0.01, tempi: 60...200))
            let clock = ContinuousClock()
            // The minimum of several runs excludes the load of other processes.
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

    @Test func `setDownbeat: the beat nearest to the control is position 1`() async throws {
        let moment = 0.25 + Self.period * 21
        let analysis = try await Self.analyze([Self.control(Control(.setDownbeat), at: moment)])
        let after = analysis.beats.filter { $0.time > moment + 0.3 && $0.time < moment + 3.5 * Self.period }
        #expect(after.map(\.position) == [2, 3, 4])
        let phase = try #require(analysis.value("bar_phase", at: moment + 1.5 * Self.period))
        #expect(abs(phase - 0.375) < 0.06)
    }

    @Test(arguments: [-200.0, -60, 35, 200])
    func `nudge: all further beats move by the given time, and none is skipped or doubled`(milliseconds: Double) async throws {
        let plain = try await Self.analyze([])
        let nudged = try await Self.analyze([Self.control(Control(.nudge, .number(milliseconds)), at: 8.1)])
        let expected = plain.beats.map(\.time).filter { $0 > 9 && $0 < 22 }
        let shifted = nudged.beats.map { $0.time - milliseconds / 1000 }.filter { $0 > 9 && $0 < 22 }
        #expect(expected.count > 20)
        #expect(shifted.count == expected.count)
        // A beat that is emitted at another moment has a slightly different estimate.
        for (time, other) in zip(shifted, expected) { #expect(abs(time - other) < 0.01) }
        let before: (BeatAnalysis) -> [Double] = { analysis in analysis.beats.map(\.time).filter { $0 < 7.9 } }
        #expect(before(nudged) == before(plain))
        let moment = try #require(expected.dropFirst(5).first)
        let phase = try #require(nudged.value("phase", at: moment + milliseconds / 1000 + 0.5 * Self.period))
        #expect(abs(phase - 0.5) < 0.06)
    }

    @Test func `nudge: changes add up to at most 200 ms, and resetTempo discards them`() {
        var tracker = BeatTracker(BeatStateSpace(frameSeconds: 0.01, tempi: 60...200))
        tracker.nudge(by: 0.15)
        tracker.nudge(by: 0.15)
        #expect(tracker.beatOffset == 0.2)
        tracker.nudge(by: -0.05)
        #expect(abs(tracker.beatOffset - 0.15) < 1e-12)
        tracker.reset()
        #expect(tracker.beatOffset == 0)
    }

    @Test func `resetTempo: clears the tempo, which is then estimated again`() async throws {
        let analysis = try await Self.analyze([Self.control(Control(.halveTempo), at: 8), Self.control(Control(.resetTempo), at: 12)])
        #expect(abs(try #require(analysis.value("bpm", at: 11.9)) - 55) < 1)
        #expect(analysis.value("bpm", at: 12.05) == nil)
        #expect(abs(try #require(analysis.value("bpm", at: 20)) - Self.tempo) < 1)
    }

    @Test func `control of another plugin: refused with a reason`() throws {
        let other = Control(ControlType("other", "A control of another plugin."))
        let reply = try PreparedAnalyzer.make().handle(StampedControl(other, at: 0, from: "test"))
        #expect(reply == .refused("nothing here handles other"))
    }

    @Test func `controls without effect are refused with a reason`() throws {
        let analyzer = try PreparedAnalyzer.make()
        func reply(_ control: Control) -> String? {
            guard case .refused(let reason) = analyzer.handle(StampedControl(control, at: 0, from: "test")) else { return nil }
            return reason
        }
        #expect(reply(Control(.halveTempo)) == "there is no tempo yet")
        #expect(reply(Control(.setDownbeat)) == "there is no beat yet")
        #expect(reply(Control(.lockTempo)) == "there is no tempo yet")
        for (slowest, fastest) in [(100.0, 110.0), (200, 100), (300, 400), (100, .nan)] {
            #expect(reply(Control(.tempoRange, .number(slowest), .number(fastest)))?.hasPrefix("the range is too narrow") == true)
        }
        #expect(reply(Control(.lockTempo, .number(1000))) == "1000.0 BPM is outside 30.0...240.0")
        #expect(reply(Control(.lockTempo, .number(-1))) != nil)
        #expect(reply(Control(.lockTempo, .number(.nan))) != nil)
    }

    @Test func `the plugin declares the controls that its analyzer handles`() {
        #expect(
            AnalyzerPlugin.beat.about.controls.map(\.name)
                == ["tap", "lockTempo", "tempoRange", "halveTempo", "doubleTempo", "setDownbeat", "nudge", "resetTempo"])
    }

    @Test func `the same controls give the same records`() async throws {
        let controls = [
            Self.control(Control(.tap), at: 5), Self.control(Control(.doubleTempo), at: 8), Self.control(Control(.setDownbeat), at: 9),
            Self.control(Control(.lockTempo, .number(90)), at: 12), Self.control(Control(.resetTempo), at: 15),
        ]
        let (one, other) = (try await Self.analyze(controls), try await Self.analyze(controls))
        // As text, because a value that there is not is NaN.
        #expect("\(one.stream)" == "\(other.stream)")
    }
}
