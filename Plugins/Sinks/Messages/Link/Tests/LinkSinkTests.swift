import BeatAnalyzer
import Foundation
import Hemiola
import HemiolaEngine
import HemiolaNetwork
import HemiolaTesting
import TestSupport
import Testing
import ToneCapture

@testable import LinkControlSource
@testable import LinkSink

/// The sink and the control source with a simulated session; Tests/EndToEnd/LinkTests has a real one.
@Suite(.mayNotHang) struct LinkSinkTests {
    private func sender(_ session: SimulatedSession) -> SinkPlugin {
        .linkSink { _, _ throws(Problem) in session }
    }

    private func follower(_ session: SimulatedSession) -> ControlPlugin {
        .linkFollower { _ throws(Problem) in session }
    }

    private var now: Double { ProcessInfo.processInfo.systemUptime }

    /// Runs clicks through the tracker, with a sink or a control source.
    private func play(
        _ clicks: String, sinks: [SinkPlugin] = [], controls: [ControlPlugin] = [], _ settings: String = ""
    ) async throws -> [Event] {
        let collected = CollectingSink()
        let registry = PluginRegistry(
            captures: [.tone], analyzers: [.beat], sinks: sinks + [.collecting(collected, as: "listener")], controls: controls)
        func specs(_ plugins: [any Plugin]) throws -> [PluginSpec] {
            try plugins.map { try PluginSpec(parsing: "\($0.about.id):\(settings)") }
        }
        let pipeline = try registry.assemble(
            PipelineConfiguration(
                captures: [try PluginSpec(parsing: "tone:clicks,\(clicks)")], analyzers: [PluginSpec("beat")],
                sinks: specs(sinks) + [PluginSpec("listener")], controls: specs(controls), isPaced: true))
        _ = await pipeline.run { _ in }
        return collected.streams.flatMap(\.events)
    }

    @Test func `clicks: the session has their tempo within 0.1 %; start_stop starts and stops the peers`() async throws {
        let session = SimulatedSession(beatsPerMinute: 97, peers: 1)
        _ = try await play("bpm=128,seconds=12", sinks: [sender(session)], "start_stop=true")
        let state = session.state(at: 0, quantum: 4)
        #expect(session.hasPlayed && !state.isPlaying)
        #expect(abs(state.beatsPerMinute / 128 - 1) < 0.001, "\(state)")
    }

    @Test func `session of 90 BPM, clicks of 180 BPM: the tracker has the session's tempo and every second click`() async throws {
        // The session's beats are on the clicks; which of them is unknown to the tracker.
        let session = SimulatedSession(beatsPerMinute: 90, peers: 1, beat: 0, at: now)
        let events = try await play("bpm=180,seconds=14", controls: [follower(session)])
        let controls = events.compactMap(\.control)
        #expect(controls.contains { $0.control.name == "lockTempo" && $0.origin == "link-control" })
        let beats = events.filter { $0.type == .beat && $0.time > 6 }
        #expect(beats.count >= 9)
        #expect(beats.allSatisfy { abs((Beat($0)?.beatsPerMinute ?? 0) - 90) < 1 })
    }

    @Test func `peers come and go: reported, and the tempo is unlocked`() throws {
        let (session, reports, clock) = (SimulatedSession(beatsPerMinute: 100), SubmittedControls(), VirtualClock())
        let sink = try follower(session).sink.make(settings: "")
        try sink.open(reports.context("link-control", controls: AnalyzerPlugin.beat.about.controls, clock: clock))
        try sink.begin(.test(isLive: true))
        var number: Int64 = 0
        /// Writes the batches of a second.
        func play() throws {
            for _ in 0..<43 {
                clock.advance(by: 1024 / 44_100)
                try sink.write(BatchBlock([CollectedBatch(number: number, frame: number * 1024, events: [])]))
                number += 1
            }
        }
        session.peerCount = 2
        try play()
        session.set(beatsPerMinute: 132.5, beat: 0, at: clock.now, quantum: 4)
        try play()
        session.peerCount = 0
        try play()
        try sink.close()
        #expect(
            reports.information == [
                "link-control: 2 peers in the session", "link-control: the tempo of the session is 100.00 BPM",
                "link-control: the tempo of the session is 132.50 BPM",
                "link-control: no peers in the session; the tempo follows the music",
            ])
        let tempi = reports.controls.filter { $0.name == "lockTempo" }.map { $0["bpm"] }
        #expect(tempi == [.number(100), .number(132.5), ParameterValue.none], "\(reports.controls)")
    }

    @Test func `conformance tests: passed`() throws {
        try SinkConformanceSuite(sender(SimulatedSession(peers: 1)), settings: "start_stop=true").run()
        let session = SimulatedSession(peers: 1)
        try SinkConformanceSuite(follower(session).sink).run()
        var tempo = 100.0
        // Each new tempo is locked.
        try ControlSourceConformanceSuite(follower(session), controls: AnalyzerPlugin.beat.about.controls) {
            tempo = tempo < 150 ? tempo + 1 : 100
            session.set(beatsPerMinute: tempo, beat: 0, at: 0, quantum: 4)
        }.run()
    }

    @Test(.enabled(if: Tool.program("g++").isExpected, "g++ is not installed"))
    func `built without the headers: it compiles, and a session is an error that names the package`() throws {
        let folder = try TemporaryFolder()
        let main = try folder.write(
            Data(
                """
                #include <CAbletonLink.h>
                #include <cstdio>
                int main() {
                    clink_session *session = nullptr;
                    std::puts(clink_open(120, false, 1, &session));
                    return session != nullptr;
                }
                """.utf8), to: "main.cpp")
        let source = Repository.root.appending(path: "Libraries/CAbletonLink").path
        let build = try ChildProcess.run(
            "/usr/bin/env",
            [
                "g++", "-std=c++17", "-Wall", "-Werror", "-DHEMIOLA_WITHOUT_LINK", "-I\(source)/include", "-o", folder("main"), main,
                "\(source)/CAbletonLink.cpp",
            ])
        try #require(build.status == 0, "\(build.errors)")
        let outcome = try ChildProcess.run(folder("main"), [])
        #expect(outcome.status == 0)
        #expect(outcome.lines == ["this program was built without Ableton Link; install it and build again: apt install ableton-link-dev"])
    }
}
