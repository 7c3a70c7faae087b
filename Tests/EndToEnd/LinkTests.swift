import Foundation
import TestSupport
import Testing

/// The program and a peer of Ableton Link, in a network of their own that has only a loopback interface.
@Suite(.serialized, .enabled(if: LinkNetwork.isExpected, "\(LinkNetwork.reason)")) struct LinkTests {
    /// What a run printed, with the times of `CLOCK_MONOTONIC` at which its lines arrived.
    private struct Run {
        var beats: [(arrival: Double, time: Double, due: Double, beatsPerMinute: Double)] = []
        var controls: [String] = []
        /// The same with their times.
        var controlTimes: [String] = []
        var (status, errors) = (Int32(0), "")

        /// The monotonic clock at stream time 0: of the lines that arrived soonest after their batch.
        var start: Double { beats.map { $0.arrival + $0.due - $0.time }.min() ?? .nan }
    }

    private static let clicks = ["--realtime", "--quiet", "--sink", "json-lines", "--select", "beat,control"]

    private func run(_ arguments: [String], in network: LinkNetwork, each body: (Run) throws -> Void = { _ in }) throws -> Run {
        let program = try network.start(Hemiola.path, arguments)
        var run = Run()
        while let line = try program.readLine(timeout: Hemiola.timeout) {
            let arrival = ProcessInfo.processInfo.systemUptime
            guard let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else { continue }
            if record["type"] as? String == "control" {
                run.controls.append(record["control"] as? String ?? "")
                run.controlTimes.append("\(run.controls.last!) \(record["t"] ?? "")")
            }
            guard record["type"] as? String == "beat", let time = record["t"] as? Double, let due = record["due_in_s"] as? Double,
                let tempo = record["bpm"] as? Double
            else { continue }
            run.beats.append((arrival, time, due, tempo))
            try body(run)
        }
        let outcome = try program.finish(timeout: Hemiola.timeout)
        (run.status, run.errors) = (outcome.status, outcome.errors)
        return run
    }

    @Test func `sink link: a peer has the tempo of the clicks within 0.1 %, and its beats are on them`() throws {
        let network = try LinkNetwork()
        let peer = try network.startSession(beatsPerMinute: 97)
        let run = try run(["analyze", "--capture", "tone:clicks,bpm=128,seconds=24", "--sink", "link"] + Self.clicks, in: network)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        let states = try network.finish(peer)
        let steady = states.filter { $0.time > run.start + 12 && $0.time < run.start + 23 }
        try #require(steady.count > 300 / Int(Sanitizer.slowness))
        #expect(steady.allSatisfy { $0.peers == 1 })
        #expect(steady.allSatisfy { abs($0.beatsPerMinute / 128 - 1) < 0.001 }, "\(steady.map(\.beatsPerMinute).minMax)")
        let errors = steady.map { state -> Double in
            let beats = state.phase - (state.time - run.start) * 128 / 60
            return (beats - beats.rounded()) * 60 / 128
        }.sorted()
        print("link: phase error in ms: \(errors[0] * 1000)…\(errors[errors.count - 1] * 1000), median \(errors[errors.count / 2] * 1000)")
        // The tracker's beats are within 10 ms of the clicks; a sanitizer and a loaded computer delay the first line.
        #expect(abs(errors[errors.count / 2]) < 0.012 * Sanitizer.slowness, "\(errors.minMax)")
        #expect(errors[errors.count - 1] - errors[0] < 0.006 * Sanitizer.slowness, "\(errors.minMax)")
    }

    @Test func `quick restarts: the peer keeps its tempo until there are beats`() throws {
        let network = try LinkNetwork()
        let peer = try network.startPeer(beatsPerMinute: 97)
        var states: [LinkNetwork.State] = []
        func wait(forPeers count: Int) throws {
            repeat {
                let line = try #require(try peer.readLine(timeout: Hemiola.timeout))
                states.append(try #require(LinkNetwork.State(line)))
                try #require(states.count < 10_000)
            } while states.last?.peers != count
        }
        // A session that is begun at the same time as the peer's, which begins one when the program has left, replaces it in half of all cases.
        for _ in 0..<6 {
            let silence = ["analyze", "--capture", "tone:silence,seconds=600", "--realtime", "--quiet", "--sink", "link"]
            let program = try network.start(Hemiola.path, silence)
            try wait(forPeers: 0)
            try wait(forPeers: 1)
            program.send(SIGTERM)
            _ = try program.finish(timeout: Hemiola.timeout)
        }
        let run = try run(["analyze", "--capture", "tone:clicks,bpm=128,seconds=8", "--sink", "link"] + Self.clicks, in: network)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        states += try network.finish(peer)
        let first = try #require(run.beats.first).arrival
        let before = states.filter { $0.time < first }
        #expect(before.count(where: { $0.peers == 1 }) > 6)
        #expect(before.allSatisfy { abs($0.beatsPerMinute - 97) < 0.01 }, "\(Set(before.map(\.beatsPerMinute)))")
        #expect(states.contains { $0.peers == 1 && abs($0.beatsPerMinute - 128) < 0.5 })
    }

    @Test func `the peer leaves and comes back: reported, and it follows again; start_stop starts and stops it`() throws {
        let network = try LinkNetwork()
        let peer = try network.startSession(beatsPerMinute: 97)
        let clicks = ["--capture", "tone:clicks,bpm=110,seconds=600", "--realtime"]
        let program = try network.start(Hemiola.path, ["analyze"] + clicks + ["--sink", "link:start_stop=true"])
        func wait(for isReached: (LinkNetwork.State) -> Bool) throws {
            repeat {
                let line = try #require(try peer.readLine(timeout: Hemiola.timeout))
                if isReached(try #require(LinkNetwork.State(line))) { return }
            } while true
        }
        func follows(_ state: LinkNetwork.State) -> Bool {
            state.peers == 1 && abs(state.beatsPerMinute / 110 - 1) < 0.001 && state.isPlaying
        }
        func wait(forReport number: Int, _ text: String) throws {
            let line = try program.readErrorLine(containing: "in the session", number: number, timeout: Hemiola.timeout)
            #expect(line == "hemiola: link: \(text) in the session")
        }
        func tell(_ commands: String) throws {
            peer.write(commands)
            try peer.writeInput()
        }
        try wait(forReport: 1, "1 peer")
        try wait(for: follows)
        try tell("leave\n")
        try wait { $0.peers == 0 }
        try wait(forReport: 2, "no peers")
        try tell("tempo 85\njoin\n")
        try wait(forReport: 3, "1 peer")
        try wait(for: follows)
        program.send(SIGTERM)
        try wait { !$0.isPlaying }
        _ = try program.finish(timeout: Hemiola.timeout)
        _ = try network.finish(peer)
    }

    @Test func `control link: the tracker has the session's tempo, and of two clicks that which the session chooses`() throws {
        let network = try LinkNetwork()
        let peer = try network.startSession(beatsPerMinute: 90)
        /// Whether the numbers of the clicks that the session chooses are odd (1) or even (0), after each shift.
        var parities: [Int] = []
        func click(_ time: Double) -> Int { Int((time * 3).rounded()) }
        /// Moves the peer's beats to those clicks that the tracker has not chosen. Both choices are equally good: without taps the tracker
        /// may change its own at any time.
        func shift(_ run: Run) throws {
            let parity = 1 - click(run.beats.last!.time) % 2
            while let line = try peer.readLine() {
                guard let state = LinkNetwork.State(line), state.time > run.beats.last!.arrival else { continue }
                let clicks = (state.time - run.start) * 3
                peer.write("shift \((clicks - Double(parity)) / 2 - state.phase)\n")
                parities.append(parity)
                return try peer.writeInput()
            }
        }
        let arguments = ["analyze", "--capture", "tone:clicks,bpm=180,seconds=36", "--control", "link"]
        let run = try run(arguments + Self.clicks, in: network) { run in
            guard let time = run.beats.last?.time else { return }
            if time > 6, parities.isEmpty { try shift(run) }
            if time > 20, parities.count == 1 { try shift(run) }
        }
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(run.controls.first == "lockTempo" && run.controls.contains("tap"), "\(run.controls)")
        try #require(parities.count == 2)
        for (from, parity) in zip([14.0, 28], parities) {
            let beats = run.beats.filter { $0.time > from && $0.time < from + 6 }
            #expect(beats.count > 6)
            #expect(beats.allSatisfy { abs($0.beatsPerMinute - 90) < 0.1 }, "\(beats.map(\.beatsPerMinute))")
            #expect(beats.allSatisfy { click($0.time) % 2 == parity }, "\(beats.map(\.time)) \(run.controlTimes)")
            #expect(beats.allSatisfy { abs($0.time * 3 - Double(click($0.time))) < 0.06 }, "\(beats.map(\.time))")
        }
        _ = try network.finish(peer)
    }

    @Test func `sockets: none unless the sink is named; then those of Link`() throws {
        let network = try LinkNetwork()
        func sockets(_ sinks: [String]) throws -> Int {
            // Ten records a second.
            let arguments = ["analyze", "--capture", "tone:clicks,seconds=3", "--realtime", "--quiet", "--batch", "4096"]
            let program = try network.start(Hemiola.path, arguments + ["--sink", "json-lines"] + sinks)
            var count = 0
            while count == 0, try program.readLine(timeout: Hemiola.timeout) != nil {
                count = try network.start("/bin/cat", ["/proc/net/udp"]).finish().lines.count - 1
            }
            let outcome = try program.finish(timeout: Hemiola.timeout)
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
            return count
        }
        #expect(try sockets([]) == 0)
        #expect(try sockets(["--sink", "link"]) > 0)
    }

    @Test func `no network: the run is as without the sink`() throws {
        let network = try LinkNetwork(isUp: false)
        let run = try run(["analyze", "--capture", "tone:clicks,bpm=128,seconds=8", "--sink", "link"] + Self.clicks, in: network)
        #expect(run.status == 0 && run.errors.isEmpty && run.beats.count > 3, "\(run.errors)")
    }

    @Test func `own tempo as input: refused with one line`() throws {
        let network = try LinkNetwork()
        let outcome = try network.start(
            Hemiola.path, ["listen", "--capture", "tone:clicks", "--sink", "link", "--control", "link"]
        ).finish()
        withExtendedLifetime(network) {}
        #expect(outcome.status == 3)
        #expect(
            outcome.errors.contains("this run is in the Link session already; use --sink link or --control link, and only one of it\n"),
            "\(outcome.errors)")
        #expect(outcome.errorLines.count == 1)
    }
}

extension [Double] {
    fileprivate var minMax: String { "\(self.min() ?? .nan)…\(self.max() ?? .nan)" }
}

/// A network namespace with a loopback interface, which ends with this object.
private final class LinkNetwork {
    /// A line of the peer: Scripts/link-peer.cpp.
    struct State {
        var time: Double
        var peers: Int
        var beatsPerMinute: Double
        var phase: Double
        var isPlaying: Bool

        init?(_ line: String) {
            let parts = line.split(separator: " ").compactMap { Double($0) }
            guard parts.count == 5 else { return nil }
            (time, peers, beatsPerMinute, phase, isPlaying) = (parts[0], Int(parts[1]), parts[2], parts[3], parts[4] == 1)
        }
    }

    private static let setUp = "ip link set lo up && ip link set lo multicast on && ip route add 224.0.0.0/4 dev lo"
    private static let peer: Result<(TemporaryFolder, String), any Error> = Result {
        let folder = try TemporaryFolder()
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scripts/link-peer.cpp").path
        let outcome = try ChildProcess.run(
            "/usr/bin/env", ["g++", "-std=c++17", "-O1", "-w", "-pthread", "-o", folder("peer"), source], timeout: 300)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return (folder, folder("peer"))
    }

    static let reason = "the kernel allows no network namespace, or one of g++, ip and ableton-link-dev is not installed"
    static let isExpected: Bool =
        Tool.isStrict
        || (Tool.program("g++").isThere && FileManager.default.fileExists(atPath: "/usr/include/ableton/Link.hpp")
            && (try? ChildProcess.run("/usr/bin/unshare", ["-rn", "sh", "-c", setUp]))?.status == 0)

    private let holder: ChildProcess

    init(isUp: Bool = true) throws {
        let setUp = isUp ? Self.setUp : ":"
        holder = try ChildProcess(
            "/usr/bin/unshare", ["-rn", "sh", "-c", "\(setUp) && echo ready && exec cat"], input: .bytes([], staysOpen: true))
        try #require(try holder.readLine() == "ready")
    }

    /// Starts a program in this network.
    func start(_ program: String, _ arguments: [String], input: ChildProcess.Input = .nothing) throws -> ChildProcess {
        try ChildProcess(
            "/usr/bin/nsenter", ["-U", "--preserve-credentials", "-n", "-t", "\(holder.identifier)", program] + arguments, input: input)
    }

    func startPeer(beatsPerMinute: Double) throws -> ChildProcess {
        try start(Self.peer.get().1, ["\(beatsPerMinute)"], input: .bytes([], staysOpen: true))
    }

    /// Starts a peer whose session is a second old: of two that begin at the same time, either can replace the other.
    func startSession(beatsPerMinute: Double) throws -> ChildProcess {
        let peer = try startPeer(beatsPerMinute: beatsPerMinute)
        try peer.exchange(for: 1)
        return peer
    }

    /// Ends the peer.
    ///
    /// - Returns: What it printed and was not read.
    func finish(_ peer: ChildProcess) throws -> [State] {
        peer.closeInput()
        return try peer.finish().lines.compactMap(State.init)
    }
}
