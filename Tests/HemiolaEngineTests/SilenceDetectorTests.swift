import Testing

@testable import HemiolaEngine

/// Reports of long silence.
@Suite struct SilenceDetectorTests {
    /// What is reported, and when, of sounds and silences of so many seconds.
    private func reports(_ parts: [(range: Float, seconds: Int)]) -> [(second: Int, report: SilenceDetector.Report)] {
        let detector = SilenceDetector()
        var (second, reports): (Int, [(Int, SilenceDetector.Report)]) = (0, [])
        for part in parts {
            for _ in 0..<part.seconds {
                detector.add(range: part.range, seconds: 1)
                second += 1
                if let report = detector.takeReport() { reports.append((second, report)) }
            }
        }
        return reports
    }

    @Test func `silence before the first sound: reported after five seconds, with its end`() {
        let first = reports([(0, 30), (0.1, 5)])
        #expect(first.map(\.second) == [5, 31])
        #expect(first.map(\.report) == [.silence(5), .sound(30)])
    }

    @Test func `pauses after the first sound: not reported; silence of ten minutes: reported once, with its end`() {
        let day = Array(repeating: [(range: Float(0.1), seconds: 200), (range: Float(0), seconds: 500)], count: 50).flatMap(\.self)
        #expect(reports(day).isEmpty)
        let long = reports([(0.1, 10), (0, 3600), (0.1, 10)])
        #expect(long.map(\.second) == [610, 3611])
        #expect(long.map(\.report) == [.silence(600), .sound(3600)])
    }

    @Test func `sound shorter than five seconds from the start: nothing is reported`() {
        #expect(reports([(0, 4), (0.1, 1), (0, 100)]).isEmpty)
    }
}
