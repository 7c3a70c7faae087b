import Foundation
import Hemiola
import HemiolaTesting
import HemiolaTonal
import NotesSink
import TestSupport
import Testing

@Suite struct NotesSinkTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let notes = [
        Note(duration: 0.25, midi: 60, frequency: 261.6, velocity: 100, confidence: 1).event(at: 0.5),
        Note(duration: 1, midi: 72, frequency: 523.2, velocity: 1, confidence: 1).event(at: 0.75),
    ]

    private func header(_ name: String, isLive: Bool = false) -> StreamHeader {
        StreamHeader(
            source: StreamSource(format: StreamFormat(sampleRate: 1000, channelCount: 1), kind: "file", name: name), isLive: isLive,
            batching: .standard, seed: 0, analyzers: [])
    }

    private func sink(_ path: String) throws -> any Sink {
        try SinkPlugin.notes.make(SinkPlugin.notes.about.values(from: PluginSpec("notes", primary: .text(path))))
    }

    private func run(
        _ path: String, _ headers: [StreamHeader], reason: StreamSummary.Reason = .endOfInput, isComplete: Bool = true
    ) throws {
        let sink = try sink(path)
        try sink.open(SinkContext(name: "notes", run: RunScope(isComplete: { isComplete })))
        do {
            for header in headers {
                try sink.begin(header)
                try sink.write([Self.notes[0], Event(at: 0.6, Onset(strength: 1))])
                try sink.end(StreamSummary(frames: 3000, batches: 3, reason: reason, lateEvents: [Self.notes[1]]))
            }
        } catch {
            try? sink.close()
            throw error
        }
        try sink.close()
    }

    @Test func `conformance tests: passed`() throws {
        try SinkConformanceSuite(.notes, settings: folder("{stem}.{n}.mid")).run()
    }

    @Test func `notes: a file of format 0 in 4/4 with one tick per millisecond`() throws {
        try run(folder("a.mid"), [header("a.wav")])
        let header: [UInt8] = [0x4D, 0x54, 0x68, 0x64, 0, 0, 0, 6, 0, 0, 0, 1, 0x01, 0xF4, 0x4D, 0x54, 0x72, 0x6B, 0, 0, 0, 38]
        let signature: [UInt8] = [0, 0xFF, 0x58, 4, 4, 2, 24, 8]
        let tempo: [UInt8] = [0, 0xFF, 0x51, 3, 0x07, 0xA1, 0x20]
        let first: [UInt8] = [0x83, 0x74, 0x90, 60, 100, 0x81, 0x7A, 0x80, 60, 0]
        let second: [UInt8] = [0, 0x90, 72, 1, 0x87, 0x68, 0x80, 72, 0]
        let bytes = try Array(Data(contentsOf: URL(filePath: folder("a.mid"))))
        #expect(bytes == header + signature + tempo + first + second + [0, 0xFF, 0x2F, 0])
    }

    @Test func `notes of a damaged recording: those without a MIDI number are left out, times are limited`() throws {
        let sink = try sink(folder("a.mid"))
        try sink.open(SinkContext(name: "notes"))
        try sink.begin(header("a.wav"))
        let note = Note(duration: 0.5, midi: 60, frequency: 261.6, velocity: 1_000_000, confidence: 1)
        var events = [-1e12, 0, 1e12].map { note.event(at: $0) }
        for (midi, duration) in [(-1, 0.5), (128, 0.5), (.max, 0.5), (61, 1e308), (62, -1e308), (63, .nan)] {
            events.append(Note(duration: duration, midi: midi, frequency: 0, velocity: -1, confidence: 0).event(at: 1))
        }
        try sink.write(events)
        try sink.end(StreamSummary(frames: 3000, batches: 3, reason: .endOfInput))
        try sink.close()
        let bytes = try Array(Data(contentsOf: URL(filePath: folder("a.mid"))))
        for (note, velocity) in [(60, 127), (61, 1), (62, 1), (63, 1)] as [(UInt8, UInt8)] {
            #expect(bytes.firstRange(of: [0x90, note, velocity]) != nil)
        }
        #expect(bytes.count < 10_000)
    }

    @Test func `several inputs: a file for each`() throws {
        try run(folder("{stem}.mid"), [header("one.wav"), header("two.wav")])
        let sizes = try ["one.mid", "two.mid"].map { try Data(contentsOf: URL(filePath: folder($0))).count }
        #expect(sizes == [60, 60])
    }

    @Test func `several inputs in one file: an error that names the remedy`() throws {
        let error = #expect(throws: Problem.self) { try run(folder("a.mid"), [header("one.wav"), header("two.wav")]) }
        #expect(error?.message.contains("{stem}") == true)
    }

    @Test func `several streams of a live run: one after the other`() throws {
        try run(folder("a.mid"), [header("device", isLive: true), header("device", isLive: true)])
        // The second stream begins after 3 s: its first note 1.75 s after the end of the last one.
        let bytes = try Array(Data(contentsOf: URL(filePath: folder("a.mid"))))
        #expect(bytes.firstRange(of: [0x8D, 0x56, 0x90, 60, 100]) != nil)
    }

    @Test func `interrupted run: no file`() throws {
        try run(folder("a.mid"), [header("a.wav")], reason: .interrupted, isComplete: false)
        #expect(!FileManager.default.fileExists(atPath: folder("a.mid")))
    }
}
