import HemiolaMIDI

@testable import MIDISink

/// Runs a schedule without a clock: every message is sent exactly when it is due.
struct Simulation {
    /// A beat, and the time at which it is announced.
    struct Announcement {
        var announced: Double
        var time: Double
        var period: Double
        var position: Int?
        var confidence: Double

        /// - Parameter lead: Time from the announcement to the beat.
        init(_ time: Double, period: Double = 0.5, position: Int? = nil, confidence: Double = 1, lead: Double = 0.08) {
            (announced, self.time, self.period, self.position, self.confidence) = (time - lead, time, period, position, confidence)
        }
    }

    var schedule: ClockSchedule
    private(set) var sent: [(time: Double, message: MIDIMessage)] = []

    init(hold: Double = 4, continues: Bool = true) {
        schedule = ClockSchedule(hold: hold, continues: continues)
    }

    mutating func run(_ beats: [Announcement], until end: Double) {
        for beat in beats {
            advance(to: beat.announced)
            schedule.addBeat(
                at: beat.time, period: beat.period, position: beat.position, confidence: beat.confidence, now: beat.announced)
        }
        advance(to: end)
    }

    mutating func advance(to end: Double) {
        while schedule.next <= end, schedule.next < .infinity {
            let time = schedule.next
            var messages: [MIDIMessage] = []
            schedule.advance(to: time, into: &messages)
            sent += messages.map { (time, $0) }
        }
    }

    /// The times of the pulses.
    var pulses: [Double] { sent.filter { $0.message == .clock }.map(\.time) }
    /// All other messages.
    var transport: [MIDIMessage] { sent.map(\.message).filter { $0 != .clock } }
}
