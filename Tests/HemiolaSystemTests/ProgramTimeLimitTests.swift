import HemiolaSystem
import Testing

struct ProgramTimeLimitTests {
    /// The second in which a program exceeds a limit of ten seconds.
    private func end(isLive: Bool, processorTime: (Double) -> Double) -> Double? {
        var limit = ProgramTimeLimit(10, isLive: isLive, from: 0)
        return stride(from: 0.0, through: 2000, by: 0.1).first { limit.isExceeded(at: $0, processorTime: processorTime($0)) }
    }

    @Test func `in real time: ended after ten seconds of the clock, whatever it computes`() throws {
        #expect(abs(try #require(end(isLive: true) { $0 }) - 10) < 0.2)
    }

    @Test func `from a file: a program that computes without end is ended`() throws {
        let end = try #require(end(isLive: false) { $0 })
        #expect((10...21).contains(end))
    }

    @Test func `from a file: a program that sleeps is ended, also if it polls`() throws {
        for share in [0, 0.002] {
            let end = try #require(end(isLive: false) { share * $0 })
            #expect((10...21).contains(end))
        }
    }

    @Test func `from a file: a program that gets a tenth of a processor has ten times as long`() throws {
        let end = try #require(end(isLive: false) { 0.1 * $0 })
        #expect(end > 90)
    }

    @Test func `from a file: processor time before the wait does not count`() throws {
        let end = try #require(end(isLive: false) { 5000 + 0.05 * $0 })
        #expect(end > 180)
    }
}
