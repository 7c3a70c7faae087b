import BeatAnalyzer
import Foundation
import Glibc
import Hemiola
import HemiolaEngine
import HemiolaTesting
import MIDISink
import TestSupport
import Testing
import ToneCapture

/// Real pipelines at real-time speed, and a pseudo-terminal or a named pipe as the receiver.
@Suite(.serialized, .mayNotHang) struct MIDISinkTests {
    private static let registry = PluginRegistry(captures: [.tone], analyzers: [.beat], sinks: [.midi])
    /// Clicks of 120 BPM in bars of four.
    private static let clicks = "tone:clicks,bpm=120,seconds="

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func pipeline(_ capture: String, _ settings: String) throws -> Pipeline {
        try Self.registry.assemble(
            PipelineConfiguration(
                captures: [PluginSpec(parsing: capture)], sinks: [PluginSpec(parsing: "midi:\(settings)")], isPaced: true))
    }

    @discardableResult
    private func run(_ capture: String, _ settings: String) async throws -> [String] {
        let notices = Watched<[String]>([])
        _ = try await pipeline(capture, settings).run { notice in notices.change { $0.append(notice.text) } }
        return notices.value
    }

    private func makePipe() throws -> String {
        let path = folder("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        return path
    }

    /// Waits for a notice that contains a text.
    private func wait(for text: String, in notices: Watched<[String]>) -> Bool {
        notices.wait { $0.contains { $0.contains(text) } }
    }

    // MARK: - Clock

    @Test func `clicks of 120 BPM, a pseudo-terminal: start, 24 pulses per beat with the clicks, stop`() async throws {
        let receiver = try Receiver()
        try await run(Self.clicks + "12", receiver.path)
        try receiver.wait { $0.last == 0xFC }
        let bytes = receiver.bytes
        #expect(bytes.first == 0xFA)
        #expect(bytes.dropFirst().dropLast().allSatisfy { $0 == 0xF8 })
        let pulses = receiver.pulses
        // 48 pulses a second, after the one to three seconds that the tracker needs, and up to two seconds to the next downbeat.
        #expect((330...530).contains(pulses.count), "\(pulses.count)")
        // The tempo: a pulse that is late because the processor was busy changes the slope little.
        let tempo = 60 / 24 / (pulses[pulses.count - 1] - pulses[0]) * Double(pulses.count - 1)
        #expect(abs(tempo - 120) < 0.5, "\(tempo)")
        #expect(medianInterval(pulses).isWithin(0.0005, of: 1 / 48.0))
    }

    @Test func `delay_ms and lead_ms: everything is sent that much later or earlier`() async throws {
        let receivers = try [Receiver(), Receiver(), Receiver()]
        let configuration = PipelineConfiguration(
            captures: [try PluginSpec(parsing: Self.clicks + "9")],
            sinks: [
                try PluginSpec(parsing: "midi:\(receivers[0].path)"),
                try PluginSpec(parsing: "midi:\(receivers[1].path),delay_ms=150,as=late"),
                try PluginSpec(parsing: "midi:\(receivers[2].path),lead_ms=200,as=early"),
            ], isPaced: true)
        _ = try await Self.registry.assemble(configuration).run { _ in }
        for receiver in receivers { try receiver.wait { $0.last == 0xFC } }
        // The phases of the pulses on beats, from the second second on.
        let phases = receivers.map { receiver in
            let times = receiver.pulses.enumerated().filter { $0.offset % 24 == 0 }.map { $0.element * 2 }.dropFirst(2)
            return medianPhase(Array(times))
        }
        let late = (phases[1] - phases[0] + 2).truncatingRemainder(dividingBy: 1) / 2
        let early = (phases[0] - phases[2] + 2).truncatingRemainder(dividingBy: 1) / 2
        #expect(late.isWithin(0.01, of: 0.15), "\(late)")
        #expect(early.isWithin(0.01, of: 0.2), "\(early)")
    }

    @Test func `the music ends: the clock runs for the hold time, then stops`() async throws {
        let receiver = try Receiver()
        // Clicks for 8 s, then silence.
        let steps = [CaptureStep.samples(clicks(seconds: 8) + [Float](repeating: 0, count: 7 * 44_100))]
        let format = StreamFormat(sampleRate: 44_100, channelCount: 1)
        let registry = PluginRegistry(captures: [.scripted(format: format, steps)], analyzers: [.beat], sinks: [.midi])
        let configuration = PipelineConfiguration(
            captures: [PluginSpec("scripted")], sinks: [try PluginSpec(parsing: "midi:\(receiver.path),hold_s=2")], isPaced: true)
        _ = try await registry.assemble(configuration).run { _ in }
        try receiver.wait { $0.last == 0xFC }
        let messages = receiver.messages.filter { $0.bytes != [0xF8] }
        #expect(messages.map(\.bytes) == [[0xFA], [0xFC]])
        // Two seconds are 96 pulses at 120 BPM, and the tracker may announce one or two beats after the last click.
        let length = messages[1].time - messages[0].time
        #expect((4...9.5).contains(length), "\(length)")
    }

    // MARK: - Notes

    @Test func `notes: on beats, downbeats and onsets, with velocities, and each ends`() async throws {
        let receiver = try Receiver()
        try await run(
            Self.clicks + "10", "\(receiver.path),clock=false,beat_note=76,downbeat_note=77,onset_note=37,channel=3,note_ms=30")
        try receiver.wait { $0.count >= 3 && $0[$0.count - 3] == 0x82 }
        let messages = receiver.messages
        #expect(messages.allSatisfy { $0.bytes.count == 3 && ($0.bytes[0] == 0x92 || $0.bytes[0] == 0x82) })
        func count(_ status: UInt8, _ note: UInt8) -> Int { messages.count { $0.bytes[0] == status && $0.bytes[1] == note } }
        for note: UInt8 in [76, 77, 37] { #expect(count(0x92, note) == count(0x82, note)) }
        #expect(count(0x92, 76) >= 6)
        #expect((2...4).contains(count(0x92, 77)))
        #expect((18...20).contains(count(0x92, 37)))
        #expect(messages.filter { $0.bytes[0] == 0x92 }.allSatisfy { $0.bytes[2] > 20 })
        // A note on the beat is sent when the click sounds, not when it is announced.
        let beats = messages.filter { $0.bytes[0] == 0x92 && $0.bytes[1] != 37 }.map { $0.time * 2 }
        #expect(zip(beats.dropFirst(), beats).allSatisfy { ($0 - $1).isWithin(0.3, of: 1) })
    }

    // MARK: - Receivers

    @Test func `the receiver stops reading: analysis goes on, losses are counted, then stop, position and continue`() async throws {
        let path = try makePipe()
        let receiver = try Receiver(pipe: path)
        // The pipe is filled with bytes that a receiver ignores, so that the very next message finds no room.
        let filler = open(path, O_WRONLY | O_NONBLOCK)
        defer { close(filler) }
        let writes = Watched(0)
        let sink = CollectingSink(before: { call, _ in if call == .write { writes.change { $0 += 1 } } })
        let registry = PluginRegistry(captures: [.tone], analyzers: [.beat], sinks: [.midi, .collecting(sink, as: "listener")])
        let configuration = PipelineConfiguration(
            captures: [try PluginSpec(parsing: Self.clicks + "16")],
            sinks: [try PluginSpec(parsing: "midi:\(path)"), PluginSpec("listener")], isPaced: true)
        let notices = Watched<[String]>([])
        let pipeline = try registry.assemble(configuration)
        async let outcome = pipeline.run { notice in notices.change { $0.append(notice.text) } }
        try receiver.wait { $0.contains(0xF8) }
        receiver.isReading = false
        let sensing = [UInt8](repeating: 0xFE, count: 4096)
        for size in [4096, 1] { while write(filler, sensing, size) > 0 {} }
        let (start, first) = (MonotonicTime.now, sink.batchCount)
        // Three seconds of sound, which another sink gets meanwhile.
        #expect(writes.wait { _ in sink.batchCount >= first + 130 })
        let stall = MonotonicTime.now - start
        receiver.isReading = true
        _ = await outcome
        try receiver.wait { $0.last == 0xFC }

        let transport = receiver.messages.map(\.bytes).filter { $0 != [0xF8] && $0 != [0xFE] }
        try #require(transport.count == 5, "\(transport)")
        #expect(transport[0] == [0xFA] && transport[1] == [0xFC] && transport[2][0] == 0xF2)
        #expect(transport[3] == [0xFB] && transport[4] == [0xFC])
        // The song position is where the receiver would be: pulses sent and lost since the start, in sixteenths.
        let lost = sink.streams.flatMap(\.events).compactMap(DropReport.init).reduce(0) { $0 + $1.events }
        let before = receiver.bytes.prefix { $0 != 0xFC }.count { $0 == 0xF8 }
        let position = Int(transport[2][1]) + Int(transport[2][2]) << 7
        // 48 pulses a second.
        #expect((stall * 33...stall * 67).contains(Double(lost)), "\(lost) in \(stall) s")
        #expect(abs(6 * position - before - lost) <= 8, "\(position) \(before) \(lost)")
        #expect(notices.value.contains { $0.contains("does not read") })
        #expect(sink.streams.first?.summary?.reason == .endOfInput)
    }

    @Test func `the device disappears and comes back: reported, connected again, and the song continues`() async throws {
        let path = try makePipe()
        let first = try Receiver(pipe: path)
        let notices = Watched<[String]>([])
        let pipeline = try pipeline(Self.clicks + "14", path)
        async let outcome = pipeline.run { notice in notices.change { $0.append(notice.text) } }
        try first.wait { $0.count > 24 }
        first.stop()
        #expect(wait(for: "gone", in: notices))
        let second = try Receiver(pipe: path)
        _ = await outcome
        try second.wait { $0.last == 0xFC }
        let transport = second.messages.map(\.bytes).filter { $0 != [0xF8] }
        #expect(transport.suffix(3).map { $0[0] } == [0xF2, 0xFB, 0xFC], "\(transport)")
        let texts = notices.value.filter { $0.hasPrefix(path) }
        #expect(texts.count == 2 && texts[0].contains("gone") && texts[1].hasSuffix("connected again"), "\(texts)")
    }

    @Test func `a pipe without a reader: waits for one`() async throws {
        let path = try makePipe()
        let notices = Watched<[String]>([])
        let pipeline = try pipeline(Self.clicks + "10", path)
        async let outcome = pipeline.run { notice in notices.change { $0.append(notice.text) } }
        #expect(wait(for: "waiting for one", in: notices))
        let receiver = try Receiver(pipe: path)
        _ = await outcome
        try receiver.wait { $0.last == 0xFC }
        #expect(receiver.bytes.first == 0xFA)
        #expect(notices.value.filter { $0.hasPrefix(path) } == ["\(path): no program reads it; waiting for one"])
    }

    // MARK: - Refusals

    @Test(arguments: [
        ("absent", "no such file or directory; \"amidi -l\""), ("file", "a file, not a MIDI device"), ("", "a folder, not a MIDI device"),
    ])
    func `no device at the path: an error that names the remedy`(name: String, message: String) throws {
        try folder.write("", to: "file")
        let sink = try SinkPlugin.midi.make(SinkPlugin.midi.about.values(from: PluginSpec("midi", primary: .text(folder(name)))))
        let error = #expect(throws: Problem.self) { try sink.open(SinkContext(name: "midi")) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.remedy == .giveUp)
    }

    @Test(.enabled(if: access("/dev/snd/seq", F_OK) != 0, "this computer has the ALSA sequencer"))
    func `no ALSA sequencer: an error that names the remedy`() throws {
        let sink = try SinkPlugin.midi.make(SinkPlugin.midi.about.values(from: PluginSpec("midi", primary: .text("alsa"))))
        let error = #expect(throws: Problem.self) { try sink.open(SinkContext(name: "midi")) }
        #expect(error?.message.hasPrefix("the ALSA sequencer is missing (/dev/snd/seq); load it with modprobe snd-seq, or") == true)
    }

    @Test(arguments: ["midi", "midi:/dev/null,clock=false"]) func `no port, or nothing to send: a configuration error`(spec: String) {
        #expect(throws: Problem.self) {
            _ = try SinkPlugin.midi.make(SinkPlugin.midi.about.values(from: PluginSpec(parsing: spec)))
        }
    }

    // MARK: - Declarations

    @Test func `conformance tests: passed`() throws {
        let receiver = try Receiver()
        try SinkConformanceSuite(.midi, settings: "\(receiver.path),beat_note=1,onset_note=2").run()
    }

    // MARK: - Helpers

    private func medianInterval(_ times: [Double]) -> Double {
        let intervals = zip(times.dropFirst(), times).map { $0 - $1 }.sorted()
        return intervals[intervals.count / 2]
    }

    /// The median of the fractional parts, all relative to the first.
    private func medianPhase(_ times: [Double]) -> Double {
        let first = times[0]
        let phases = times.map { ($0 - first) - ($0 - first).rounded() }.sorted()
        return (first + phases[phases.count / 2] + 1e6).truncatingRemainder(dividingBy: 1)
    }

    /// Clicks of 120 BPM, 44.1 kHz.
    private func clicks(seconds: Int) -> [Float] {
        TestSignal.clicks(beatsPerMinute: 120, frames: seconds * 44_100, format: StreamFormat(sampleRate: 44_100, channelCount: 1))
    }
}

extension Double {
    fileprivate func isWithin(_ tolerance: Double, of value: Double) -> Bool { abs(self - value) <= tolerance }
}
