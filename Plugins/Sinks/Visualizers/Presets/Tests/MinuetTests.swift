import BeatAnalyzer
import FileCapture
import Foundation
import Hemiola
import HemiolaEngine
import HemiolaTesting
import HemiolaVisualizer
import TestSupport
import Testing

@testable import PresetsSink

/// Changes on the beats of the bundled minuet, compared with its annotated beats.
@Suite struct MinuetTests {
    /// Seconds. The ritardando after this time makes the announced beats wrong.
    private static let steadyEnd = 26.5
    private static let music = Repository.root.appending(path: "examples/music")

    /// Time and position in the bar of every annotated beat.
    private func annotations() throws -> [(time: Double, position: Int)] {
        try String(contentsOf: Self.music.appendingPathComponent("minuet.beats"), encoding: .utf8).split(separator: "\n").map { line in
            let fields = line.split(separator: "\t")
            return (try #require(Double(fields[0])), try #require(Int(fields[1])))
        }
    }

    private func changes(_ settings: [String: ParameterValue]) async throws -> [Event] {
        let sink = CollectingSink()
        let registry = PluginRegistry(captures: [.file], analyzers: [.beat], sinks: [.presets, .collecting(sink)])
        let path = Self.music.appendingPathComponent("minuet.flac").path
        var configuration = PipelineConfiguration(captures: [PluginSpec("file", primary: .text(path))])
        let plan: ParameterValue = .text("/dev/null")
        let names: ParameterValue = .list(["a", "b", "c"].map { .text($0) })
        configuration.sinks = [
            PluginSpec("presets", primary: plan, settings: settings.merging(["names": names]) { $1 }), PluginSpec("collecting"),
        ]
        let outcome = await (try registry.assemble(configuration)).run { _ in }
        #expect(outcome.failedInputs == 0 && outcome.failedSinks == 0)
        return sink.streams[0].events
    }

    @Test func `minuet, mode bars: changes within 35 ms of annotated downbeats`() async throws {
        let downbeats = try annotations().filter { $0.position == 1 }.map(\.time)
        let events = try await changes(["bars": .integer(2)])
        // The first bar that is reported, after eight beats, may be wrong.
        let times = zip(events.presets, events.presetTimes).filter { $0.0.reason == .bar }.map(\.1)
            .filter { $0 > 5.5 && $0 < Self.steadyEnd }
        #expect(times.count >= 5)
        for time in times { #expect(downbeats.contains { abs($0 - time) < 0.035 }, "\(time) s is no downbeat") }
    }

    @Test func `minuet, mode beats: changes within 50 ms of annotated beats`() async throws {
        let beats = try annotations().map(\.time)
        let events = try await changes(["beats": .integer(5)])
        // The first beats may have another tempo.
        let times = zip(events.presets, events.presetTimes).filter { [.bar, .beat].contains($0.0.reason) }.map(\.1)
            .filter { $0 > 5.5 && $0 < Self.steadyEnd }
        #expect(times.count >= 5)
        for time in times { #expect(beats.contains { abs($0 - time) < 0.05 }, "\(time) s is no beat") }
    }
}
