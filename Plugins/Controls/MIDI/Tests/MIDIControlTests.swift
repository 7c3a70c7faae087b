import BeatAnalyzer
import Foundation
import Glibc
import Hemiola
import HemiolaEngine
import HemiolaFieldMaps
import HemiolaMIDI
import HemiolaTesting
import HemiolaVisualizer
import TestSupport
import Testing
import ToneCapture

@testable import MIDIControlSource

/// A pseudo-terminal or a named pipe as the device.
@Suite(.mayNotHang) struct MIDIControlTests {
    /// The end of a pseudo-terminal that a device would be at.
    private final class Keyboard {
        /// A link to the terminal: the system gives the number of a closed one to the next that any test opens.
        let path: String
        private let folder: TemporaryFolder
        private var descriptor: Int32
        private let slave: Int32

        init() throws {
            var (main, other, name) = (Int32(-1), Int32(-1), [CChar](repeating: 0, count: 128))
            try #require(openpty(&main, &other, &name, nil, nil) == 0)
            (descriptor, slave) = (main, other)
            // A child process of another test would keep the terminal open.
            for end in [main, other] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            folder = try TemporaryFolder()
            path = folder("device")
            let terminal = String(decoding: name.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: terminal)
        }

        deinit { unplug() }

        func send(_ bytes: [UInt8]) { _ = write(descriptor, bytes, bytes.count) }

        func unplug() {
            guard descriptor >= 0 else { return }
            unlink(path)
            close(descriptor)
            close(slave)
            descriptor = -1
        }
    }

    /// A clock that is an hour later each time that it is read: no pause before an attempt is left.
    private final class HurryingClock: MonotonicClock {
        let reads = Watched(0)

        var now: Double {
            reads.change { $0 += 1 }
            return Double(reads.value) * 3600
        }

        func sleep(until time: Double) {}
    }

    private static func context(_ inbox: SubmittedControls, clock: any MonotonicClock = .system) -> SinkContext {
        inbox.context("midi-control", controls: ControlType.presetControls + AnalyzerPlugin.beat.about.controls, clock: clock)
    }

    private func sink(_ settings: String) throws -> any Sink {
        try ControlPlugin.midi.sink.make(ControlPlugin.midi.about.values(from: PluginSpec(parsing: "midi:\(settings)")))
    }

    private func names(_ messages: [[UInt8]]) async throws -> [String] {
        let (keyboard, inbox) = (try Keyboard(), SubmittedControls())
        let sink = try sink(keyboard.path)
        try sink.open(Self.context(inbox))
        keyboard.send(messages.flatMap(\.self) + [0x90, 47, 1])
        try inbox.wait { inbox.controls.last?.name == "resetTempo" }
        try sink.close()
        return inbox.controls.dropLast().map(\.description)
    }

    @Test func `keys: each has its control when it is pressed, in order; one that the program lacks is ignored`() async throws {
        let keys: [UInt8] = [36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 35, 48]
        let found = try await names(keys.flatMap { [[0x90, $0, 100], [0x80, $0, 0]] })
        #expect(
            found == [
                "tap", "setDownbeat", "previousPreset", "nextPreset", "randomPreset", "halveTempo", "doubleTempo",
                "nudge ms=number(-10.0)", "nudge ms=number(10.0)", "toggleCycle",
            ])
    }

    @Test func `pedal and wheel: a tap per pedal, relative steps, clock between the bytes`() async throws {
        let found = try await names([[0xB3, 64, 127, 64, 0], [0xB0, 16, 0xF8, 3], [0xB0, 16, 125], [0xB0, 16, 0], [0xB0, 7, 9]])
        #expect(found == ["tap", "nudge ms=number(3.0)", "nudge ms=number(-3.0)"])
    }

    @Test func `a fader: 0.1 to 1, and of values that arrive together the last`() async throws {
        let (keyboard, inbox) = (try Keyboard(), SubmittedControls())
        let sink = try sink(keyboard.path)
        try sink.open(Self.context(inbox))
        for value: UInt8 in [0, 127] {
            keyboard.send((0...100).flatMap { [0xB0, 1, $0 as UInt8] } + [0xB0, 1, value])
            let speed = value == 0 ? 0.1 : 1
            try inbox.wait { inbox.controls.last == Control(.setSpeed, .number(speed)) }
        }
        try sink.close()
        #expect(inbox.controls.count < 50)
    }

    @Test func `channel=2: messages of other channels are ignored`() async throws {
        let (keyboard, inbox) = (try Keyboard(), SubmittedControls())
        let sink = try sink("\(keyboard.path),channel=2")
        try sink.open(Self.context(inbox))
        keyboard.send([0x90, 36, 1, 0x91, 39, 1, 0xB2, 64, 127])
        try inbox.wait { inbox.controls.map(\.name) == ["nextPreset"] }
        try sink.close()
        #expect(inbox.controls.map(\.name) == ["nextPreset"])
    }

    @Test func `the device disappears: one warning, and the sink can be closed`() throws {
        let (keyboard, inbox, clock) = (try Keyboard(), SubmittedControls(), HurryingClock())
        let sink = try sink(keyboard.path)
        try sink.open(Self.context(inbox, clock: clock))
        keyboard.unplug()
        try inbox.wait { !inbox.warnings.isEmpty }
        // Each attempt to connect reads the clock twice.
        let before = clock.reads.value
        #expect(clock.reads.wait { $0 > before + 20 })
        try sink.close()
        #expect(inbox.warnings.count == 1 && inbox.warnings[0].contains("trying to connect again"), "\(inbox.warnings)")
    }

    @Test func `a named pipe whose writers come and go: all are read`() async throws {
        let folder = try TemporaryFolder()
        let (path, inbox) = (folder("pipe"), SubmittedControls())
        try #require(mkfifo(path, 0o600) == 0)
        let sink = try sink(path)
        try sink.open(Self.context(inbox))
        for count in 1...3 {
            try FileHandle(forWritingTo: URL(filePath: path)).write(contentsOf: Data([0x90, 36, 1]))
            try inbox.wait { inbox.controls.count == count }
        }
        try sink.close()
        #expect(inbox.warnings.isEmpty)
    }

    @Test func `a pipeline: taps take effect and are recorded`() async throws {
        let keyboard = try Keyboard()
        // Each call of the sink comes after what the last one has brought is collected.
        let calls = Watched(0)
        let collected = CollectingSink { _, _ in calls.change { $0 += 1 } }
        let registry = PluginRegistry(
            captures: [.tone], analyzers: [.beat], sinks: [.collecting(collected, as: "listener")], controls: [.midi])
        let pipeline = try registry.assemble(
            PipelineConfiguration(
                captures: [try PluginSpec(parsing: "tone:clicks,seconds=600")], analyzers: [PluginSpec("beat")],
                sinks: [PluginSpec("listener")], controls: [try PluginSpec(parsing: "midi:\(keyboard.path)")], isPaced: true))
        async let outcome = pipeline.run { _ in }
        defer { pipeline.stop() }
        @Sendable func wait(until condition: @escaping @Sendable () -> Bool) async throws {
            // Blocks a thread of its own: the pipeline needs one of those of the tasks, which are few.
            let hasCome = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                try! startThread(for: "a test") { continuation.resume(returning: calls.wait { _ in condition() }) }
            }
            try #require(hasCome, "\(collected.batchCount) batches")
        }
        @Sendable func controls() -> [StampedControl] { collected.streams.flatMap(\.events).compactMap(\.control) }
        // The beat is created before the first batch: from then on it handles taps.
        try await wait { collected.batchCount > 0 }
        for count in 1...4 {
            keyboard.send([0x90, 36, 100, 0x80, 36, 0])
            try await wait { controls().count == count }
        }
        pipeline.stop()
        _ = await outcome
        #expect(controls().count == 4)
        #expect(controls().allSatisfy { $0.control.name == "tap" && $0.origin == "midi-control" })
    }

    @Test func `no device: an error that names the remedy`() throws {
        let sink = try sink("/dev/snd/midiC99D9")
        let error = #expect(throws: Problem.self) { try sink.open(SinkContext(name: "midi-control")) }
        #expect(error?.message.contains("amidi -l") == true)
        #expect(throws: Problem.self) { _ = try self.sink("") }
    }

    @Test func `map of one's own: notes, controllers, programs and channels`() async throws {
        let (keyboard, inbox, folder) = (try Keyboard(), SubmittedControls(), try TemporaryFolder())
        try folder.write(
            """
            - {when: note.60, to: tap, where: {channel: 2}}
            - {from: controller.7, to: setSpeed.speed, scale: [0, 127, 1, 0.1]}
            - {value: 3, when: program.5, to: nudge.ms}
            """, to: "map.yaml")
        let sink = try sink("\(keyboard.path),map=\(folder("map.yaml"))")
        try sink.open(Self.context(inbox))
        keyboard.send([0x90, 60, 1, 0x91, 60, 1, 0x91, 60, 0, 0xC0, 5, 0xB0, 7, 127])
        try inbox.wait { inbox.controls.last?.name == "setSpeed" }
        try sink.close()
        #expect(inbox.controls.map(\.description) == ["tap", "nudge ms=number(3.0)", "setSpeed speed=number(0.1)"])
    }

    @Test(arguments: [
        ("- {when: note.128, to: tap}", "[0].when: \"note.128\" is no MIDI message; write note.N"),
        ("- {from: /fader, to: setSpeed}", "[0].from: \"/fader\" is no MIDI message"),
        ("- {when: note.1, to: tpa}", "[0].to: there is no control \"tpa\"; did you mean tap?"),
        ("- {from: note.1, to: nudge.s}", "[0].to: there is no field of nudge \"s\""),
        ("- {from: note.1, when: note.2, to: tap}", "[0].when: from and when exclude each other"),
    ])
    func `map with a typo: refused, with its place`(text: String, message: String) throws {
        let (keyboard, folder) = (try Keyboard(), try TemporaryFolder())
        try folder.write(text, to: "map.yaml")
        let sink = try sink("\(keyboard.path),map=\(folder("map.yaml"))")
        let error = #expect(throws: Problem.self) { try sink.open(Self.context(SubmittedControls())) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func `conformance tests: passed`() throws {
        let folder = try TemporaryFolder()
        let path = folder("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let pipe = try FileHandle(forUpdating: URL(filePath: path))
        try ControlSourceConformanceSuite(.midi, settings: path) { try? pipe.write(contentsOf: Data([0x90, 39, 1])) }.run()
    }
}
