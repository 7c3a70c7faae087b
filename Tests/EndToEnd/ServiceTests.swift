import Foundation
import Glibc
import TestSupport
import Testing

/// Notifications to a service manager (systemd's `Type=notify`).
@Suite(.mayNotHang) struct ServiceTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func start(_ arguments: [String], _ environment: [String: String]) throws -> ChildProcess {
        try ChildProcess(Hemiola.path, arguments, in: folder.path, environment: environment, output: .path("/dev/null"))
    }

    @Test(arguments: [false, true]) func `notify socket: ready, watchdog, stopping`(isAbstract: Bool) throws {
        let name = isAbstract ? "@hemiola-test-\(UUID().uuidString)" : folder("notify")
        let socket = try DatagramSocket(name)
        let process = try start(
            ["listen", "--json", "--capture", "tone:clicks,seconds=60"], ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "200000"])
        #expect(socket.receive(timeout: 20) == "READY=1\n")
        let start = ContinuousClock.now
        for _ in 0..<5 { #expect(socket.receive(timeout: 5) == "WATCHDOG=1\n") }
        // Half of the watchdog time: 0.1 s each, the first one at once.
        #expect(ContinuousClock.now - start > .seconds(0.35))
        process.send(SIGTERM)
        var last = socket.receive(timeout: 5)
        while last == "WATCHDOG=1\n" { last = socket.receive(timeout: 5) }
        #expect(last == "STOPPING=1\n")
        #expect(try process.finish().status == 143)
        #expect(socket.receive(timeout: 0.1) == nil)
    }

    @Test func `end of the input: stopping, without a watchdog if none is set`() throws {
        let socket = try DatagramSocket(folder("notify"))
        let process = try start(["analyze", Hemiola.minuet], ["NOTIFY_SOCKET": folder("notify")])
        #expect(try process.finish().status == 0)
        var messages: [String] = []
        while let message = socket.receive(timeout: 0.2) { messages.append(message) }
        // A short run may end before it is ready.
        #expect(messages.last == "STOPPING=1\n" && ["READY=1\n"].starts(with: messages.dropLast()), "\(messages)")
    }

    @Test func `input that cannot be opened: never ready`() throws {
        let socket = try DatagramSocket(folder("notify"))
        let process = try start(["analyze", "none.wav"], ["NOTIFY_SOCKET": folder("notify")])
        #expect(try process.finish().status == 1)
        while let message = socket.receive(timeout: 0.2) { #expect(!message.contains("READY")) }
    }

    @Test(arguments: ["relative", "/nowhere/socket", "@" + String(repeating: "x", count: 200)])
    func `notify socket that does not exist or has an invalid name: the run is the same`(name: String) throws {
        let process = try start(["analyze", Hemiola.minuet, "--analyzer", "levels"], ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "x"])
        let outcome = try process.finish()
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
    }

    @Test func `child process: does not get the variables of the protocol`() throws {
        // Stands in for the decoder of formats that libsndfile does not read.
        let script = "#!/bin/sh\nenv > '\(folder("environment"))'\nexit 1\n"
        try FileManager.default.createDirectory(atPath: folder("bin"), withIntermediateDirectories: true)
        try folder.write(script, to: "bin/ffmpeg")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder("bin/ffmpeg"))
        // The signature of an M4A file.
        try folder.write([0, 0, 0, 0x20] + Array("ftypM4A ".utf8) + [UInt8](repeating: 0, count: 2000), to: "a.m4a")
        let socket = try DatagramSocket(folder("notify"))
        let process = try start(
            ["analyze", "a.m4a"],
            ["NOTIFY_SOCKET": folder("notify"), "WATCHDOG_USEC": "1000000", "PATH": "\(folder("bin")):/usr/bin:/bin"])
        #expect(try process.finish().status == 1)
        let environment = try folder.text(of: "environment")
        #expect(environment.contains("PATH=\(folder("bin"))"))
        #expect(!environment.contains("NOTIFY_SOCKET") && !environment.contains("WATCHDOG_USEC"))
        #expect(socket.receive(timeout: 1) == "STOPPING=1\n")
    }
}
