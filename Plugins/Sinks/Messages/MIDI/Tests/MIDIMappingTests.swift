import BeatAnalyzer
import Foundation
import Glibc
import Hemiola
import HemiolaEngine
import HemiolaMIDI
import HemiolaTesting
import LevelsAnalyzer
import MIDISink
import TestSupport
import Testing
import ToneCapture

/// Field maps of controllers and notes: real pipelines, and a pseudo-terminal as the receiver.
@Suite(.serialized, .mayNotHang) struct MIDIMappingTests {
    private static let registry = PluginRegistry(captures: [.tone], analyzers: [.beat, .levels], sinks: [.midi])

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func run(_ capture: String, map: String, to receiver: Receiver) async throws -> [String] {
        try Data(map.utf8).write(to: URL(filePath: folder("map.yaml")))
        let notices = Watched<[String]>([])
        let pipeline = try Self.registry.assemble(
            PipelineConfiguration(
                captures: [PluginSpec(parsing: capture)], analyzers: [PluginSpec("levels"), PluginSpec("beat")],
                sinks: [PluginSpec(parsing: "midi:\(receiver.path),clock=false,channel=3,map=\(folder("map.yaml"))")], isPaced: true))
        _ = await pipeline.run { notice in notices.change { $0.append(notice.text) } }
        return notices.value
    }

    @Test func `feature: a controller, scaled, sent when it changes`() async throws {
        let receiver = try Receiver()
        _ = try await run(
            "tone:sine,hz=440,level_db=-20,seconds=2", map: "- {from: levels.rms_db, to: controller.7, scale: [-48, 0, 0, 127]}",
            to: receiver)
        try receiver.wait { $0.count >= 3 }
        let messages = stride(from: 0, to: receiver.bytes.count - 2, by: 3).map { Array(receiver.bytes[$0..<$0 + 3]) }
        #expect(messages.allSatisfy { $0[0] == 0xB2 && $0[1] == 7 })
        // A steady tone: the value changes while the level settles, and is not sent 43 times a second.
        #expect(messages.count < 20)
        #expect(messages.allSatisfy { $0[2] < 100 })
        #expect(try #require(messages.last)[2] > 40)
        #expect(zip(messages, messages.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test func `record: a note with the length note_ms, and a constant`() async throws {
        let receiver = try Receiver()
        _ = try await run(
            "tone:clicks,bpm=120,seconds=6",
            map: """
                - {value: 99, when: beat, to: note.40}
                - {value: 12, when: beat, to: controller.64}
                """, to: receiver)
        // All of the last beat was received: three messages of three bytes.
        try receiver.wait { $0.count >= 9 && $0.count % 9 == 0 }
        let messages = stride(from: 0, to: receiver.bytes.count - 2, by: 3).map { Array(receiver.bytes[$0..<$0 + 3]) }
        let beats = messages.count { $0 == [0x92, 40, 99] }
        #expect(beats >= 2)
        #expect(messages.count { $0 == [0x82, 40, 0] } == beats)
        #expect(messages.count { $0 == [0xB2, 64, 12] } == beats)
        #expect(messages.count == 3 * beats)
    }

    @Test func `destination that is no MIDI message, and an unknown feature: errors that name the line`() async throws {
        let receiver = try Receiver()
        let notices = try await run(
            "tone:sine,seconds=1",
            map: """
                - {from: levels.rms_db, to: controller.128}
                - {from: levels.rms, to: note.1}
                """, to: receiver)
        let text = notices.joined(separator: "\n")
        #expect(text.contains("\"controller.128\" is no MIDI message; write controller.N or note.N, with N from 0 to 127"))
        #expect(text.contains("levels has no feature \"rms\""))
    }
}
