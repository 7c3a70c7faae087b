import Hemiola
import HemiolaTesting
import NetworkSupport
import OS2LSink

/// A sink that gets batches as time passes, as in a live run, in virtual time. Stream time 0 is when the fixture is made.
final class OS2LFixture {
    static let receiver = "tcp://192.0.2.1:9996"

    let network = VirtualNetwork()
    let sink: any Sink
    private var number: Int64 = 0

    init(_ settings: String = "", lead: Double = 0) throws {
        sink = try SinkPlugin.os2l.make(settings: "192.0.2.1" + settings)
        try sink.open(network.context("os2l", lead: lead))
        try sink.begin(.test(isLive: true))
    }

    /// The current stream time in seconds.
    var now: Double { network.now }

    /// Writes a batch that ends now.
    func write(_ events: [Event] = []) throws {
        let end = TestSignal.mono.frame(at: now)
        let batch = CollectedBatch(number: number, frame: end - 1024, events: events)
        number += 1
        try sink.write(BatchBlock([batch]))
    }

    /// Writes batches without beats until a time.
    func play(to end: Double) throws {
        while now < end {
            network.advance(to: min(end, now + 0.02))
            try write()
        }
    }

    /// A beat, by default one that is announced now.
    func beat(in seconds: Double = 0, bpm: Double = 120.5, position: Int? = nil, confidence: Double = 0.9) -> Event {
        Event(at: now + seconds, Beat(beatsPerMinute: bpm, position: position, confidence: confidence))
    }

    /// What the receiver got so far: a line for each message.
    var lines: [String] { network.packets.map { String(decoding: $0.bytes.dropLast(), as: UTF8.self) } }

    /// When the receiver got it, in milliseconds.
    var times: [Int] { network.packets.map { Int(($0.time * 1000).rounded()) } }

    /// Events in the records of losses.
    var lost: Int { network.drops.reduce(0) { $0 + $1.events } }
}
