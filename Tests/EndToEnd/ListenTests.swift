import Foundation
import TestSupport
import Testing

/// `listen`, `devices` and the sound checks of `doctor`, with private sound servers.
@Suite(.mayNotHang) struct ListenTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func start(_ arguments: [String], with server: SoundServer) throws -> ChildProcess {
        try ChildProcess(Hemiola.path, arguments, in: folder.path, environment: server.environment)
    }

    /// Reads lines until a record of a type.
    private func read(_ process: ChildProcess, until type: String, count: Int = 1) throws {
        var seen = 0
        while seen < count {
            let line = try #require(try process.readLine(timeout: 20), "it ended before a \(type)")
            if line.hasPrefix("{\"type\":\"\(type)\"") { seen += 1 }
        }
    }

    /// The next record.
    private func next(_ process: ChildProcess) throws -> Record {
        let line = try #require(try process.readLine(timeout: 20), "it has ended")
        return try #require(try Record.all(in: line + "\n").first)
    }

    /// The number of lines of a file, of which the last one may be incomplete.
    private func lines(of name: String) throws -> Int { try folder.text(of: name).split(separator: "\n").count }

    /// The size of a file in bytes; 0 if there is none.
    private func size(of name: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: folder(name)))?[.size] as? Int ?? 0
    }

    // MARK: - Records

    @Test(.needs(SoundServer.Kind.pulseAudio.tool), arguments: SoundServer.Kind.expected)
    func `live capture: records; a signal adds the end record`(kind: SoundServer.Kind) throws {
        let server = try SoundServer(kind)
        let process = try start(["listen", "--sink", "json-lines:out.jsonl", "--sink", "json-lines"], with: server)
        try read(process, until: "batch", count: 50)
        process.send(SIGINT)
        let outcome = try process.finish(timeout: 20)
        #expect(outcome.status == 130 && !outcome.wasKilled)
        #expect(outcome.errors.split(separator: "\n").count == 1 && outcome.errors.contains("listening to "), "\(outcome.errors)")
        let records = try Record.all(in: folder.text(of: "out.jsonl"))
        // The default rates of the servers.
        #expect(records.first?.type == "header" && records.first?.int("sample_rate") == (kind == .pulseAudio ? 44_100 : 48_000))
        let device = try #require(records.of("device").first)
        #expect(device.string("state") == "opened" && device.string("name") == "stage.monitor")
        #expect(records.batches.count >= 50)
        #expect(records.batches.enumerated().allSatisfy { $1.int("n") == $0 && $1.int("frame") == $0 * 1024 })
        let end = try #require(records.last)
        #expect(end.type == "end" && end.string("reason") == "interrupted" && end.int("batches") == records.batches.count)
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool)) func `--duration: ends after so much sound, as at the end of a file`() throws {
        let server = try SoundServer(.pulseAudio)
        let outcome = try start(["listen", "--json", "--duration", "1.5"], with: server).finish(timeout: 20)
        #expect(outcome.status == 0 && !outcome.wasKilled, "\(outcome.errors)")
        let records = try Record.all(in: outcome.output)
        // The batch in which the time is reached is the last one.
        #expect(records.batches.count == Int((1.5 * 44_100 / 1024).rounded(.up)))
        #expect(records.last?.type == "end" && records.last?.string("reason") == "end-of-input")
    }

    @Test(
        .needs(SoundServer.Kind.pulseAudio.tool), .enabled(if: TemporaryDisk.isAvailable, "a tmpfs can be mounted by root only"))
    func `full disk: the recording continues when space is free, and every dropped batch is counted`() throws {
        let server = try SoundServer(.pulseAudio)
        let disk = try TemporaryDisk(kibibytes: 512)
        try disk.fill(leaving: 8)
        try folder.write("", to: "live.jsonl")
        let process = try ChildProcess(
            Hemiola.path, ["listen", "--analyzer", "levels", "-o", disk("out.jsonl"), "--sink", "json-lines:-,as=live"],
            environment: server.environment, output: .path(folder("live.jsonl")))
        try FolderEvents(disk.path).wait(for: "a full disk") { try disk.freeBytes == 0 && !disk.text(of: "out.jsonl").isEmpty }
        // Three seconds more at a sink that does not fail: the queue of the other one holds one second of batches.
        let count = try lines(of: "live.jsonl")
        try folder.wait(for: "batches") { try lines(of: "live.jsonl") > count + 130 }
        let before = try disk.text(of: "out.jsonl")
        #expect(before.hasSuffix("\n"))
        try disk.free()
        try FolderEvents(disk.path).wait(for: "records") { try disk.text(of: "out.jsonl").contains(#""type":"dropped""#) }
        process.send(SIGINT)
        let outcome = try process.finish(timeout: 20)
        #expect(outcome.status == 130, "\(outcome.errors)")
        let messages = outcome.errors.split(separator: "\n")
        #expect(messages.count { $0.contains("the disk is full; it keeps ") && $0.hasSuffix("; retrying") } == 1, "\(outcome.errors)")
        #expect(messages.count { $0.contains("json-lines: recovered") } == 1, "\(outcome.errors)")
        let text = try disk.text(of: "out.jsonl")
        #expect(text.hasPrefix(before))
        let records = try Record.all(in: text)
        #expect(records.count { $0.type == "header" } == 1)
        let numbers = records.batches.compactMap { $0.int("n") }
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 } && numbers.count == records.batches.count)
        let end = try #require(records.last)
        let missing = try #require(end.int("batches")) - numbers.count
        #expect(end.type == "end" && missing > 40)
        #expect(end.int("dropped.json-lines") == missing)
        #expect(records.of("dropped").compactMap { $0.int("batches") }.reduce(0, +) == missing)
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool))
    func `stopped program (SIGSTOP): gap with the reason stopped, no lost device`() throws {
        let server = try SoundServer(.pulseAudio)
        let process = try start(["listen"], with: server)
        try read(process, until: "batch", count: 30)
        let recorder = try server.record("stage.monitor", to: folder("captured.raw"))
        process.send(SIGSTOP)
        // Two seconds of the server's sound; the recorder's first moments may be from before the stop.
        try folder.wait(for: "sound") { size(of: "captured.raw") > 0 }
        let begin = size(of: "captured.raw")
        try folder.wait(for: "two seconds of sound") { size(of: "captured.raw") >= begin + 2 * 44_100 * 8 }
        process.send(SIGCONT)
        recorder.send(SIGINT)
        var types: [String] = []
        var gap: Record?
        while gap == nil {
            let record = try next(process)
            types.append(record.type)
            if record.type == "gap" { gap = record }
        }
        #expect(gap?.string("reason") == "stopped" && (gap?.double("duration_s") ?? 0) > 1.5)
        #expect(!types.contains("device"))
        process.send(SIGINT)
        let outcome = try process.finish(timeout: 20)
        #expect(outcome.errors.contains("hemiola did not run: it was stopped, "), "\(outcome.errors)")
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool), arguments: SoundServer.Kind.expected)
    func `frozen server: reported while it is frozen`(kind: SoundServer.Kind) throws {
        let server = try SoundServer(kind)
        let process = try start(["listen"], with: server)
        try read(process, until: "batch", count: 30)
        server.freeze()
        // Only a timer can cause output now.
        var lost: Record?
        while lost == nil {
            let record = try next(process)
            if record.type == "device", record.string("state") == "lost" { lost = record }
        }
        server.thaw()
        try read(process, until: "gap")
        process.send(SIGINT)
        let outcome = try process.finish(timeout: 20)
        #expect(outcome.errors.contains("no audio from ") && outcome.errors.contains("waiting for it"), "\(outcome.errors)")
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool), .needs(.program("flac")), .needs(.program("sox")))
    func `live: same records as from a file with the same sound`() throws {
        let server = try SoundServer(.pulseAudio)
        let wav = folder("minuet.raw")
        let made = try Hemiola.shell("flac -sdc '\(Hemiola.minuet)' | sox -t wav - -t f32 '\(wav)' trim 0 6")
        try #require(made.status == 0 && made.errors.isEmpty, "\(made.errors)")
        let recorder = try server.record("stage.monitor", to: folder("captured.raw"))
        // Records to a file, because a pipe must be read all the time.
        try folder.write("", to: "live.jsonl")
        let process = try ChildProcess(
            Hemiola.path, ["listen"], environment: server.environment, output: .path(folder("live.jsonl")))
        try folder.wait(for: "records") { try lines(of: "live.jsonl") > 20 }
        let player = try server.play(wav, on: "stage", as: "player")
        try folder.wait(for: "four seconds more") { try lines(of: "live.jsonl") > 20 + 172 }
        process.send(SIGINT)
        #expect(try process.finish(timeout: 20).status == 130)
        let live = try Record.all(in: folder.text(of: "live.jsonl"))
        // The recording continues for a third of a second, so that it contains the last batch.
        let end = size(of: "captured.raw")
        try folder.wait(for: "the recording") { size(of: "captured.raw") > end + 44_100 / 3 * 2 * 4 }
        recorder.send(SIGINT)
        _ = try recorder.finish(timeout: 10)
        withExtendedLifetime(player) {}

        let captured = try Data(contentsOf: URL(fileURLWithPath: folder("captured.raw"))).withUnsafeBytes {
            Array($0.bindMemory(to: Float.self))
        }
        let count = try #require(live.last?.int("frames"))
        try #require(live.of("gap").isEmpty, "the machine is too busy to compare anything")
        let start = try #require(Self.alignment(of: live.batches, in: captured), "the captured audio is not in the recording")
        let samples = Array(captured[2 * start..<2 * (start + count)])
        try Data(WAVBytes(samples: samples, sampleRate: 44_100, channelCount: 2, encoding: .float32).bytes)
            .write(to: URL(fileURLWithPath: folder("captured.wav")))
        let file = try Hemiola.records([folder("captured.wav"), "--causal"]).batches
        // Requires a signal, because silence always matches silence.
        #expect(live.batches.count { ($0.double("levels.rms_db") ?? -.infinity) > -40 } > 50)
        #expect(live.batches.count > 150 && live.batches.map(\.line) == file.map(\.line))
    }

    /// The frame of a recording at which the batches start: from there the levels of the batches match.
    private static func alignment(of batches: [Record], in captured: [Float]) -> Int? {
        var squares = [0.0]
        for frame in 0..<captured.count / 2 {
            let mono = Double((captured[2 * frame] + captured[2 * frame + 1]) / 2)
            squares.append(squares[frame] + mono * mono)
        }
        let levels = batches.map { $0.double("levels.rms_db") ?? -120 }
        guard let loud = levels.firstIndex(where: { $0 > -50 }), levels.count > loud + 20 else { return nil }
        return (0..<max(0, squares.count - levels.count * 1024)).first { start in
            (loud..<loud + 20).allSatisfy { batch in
                let frame = start + batch * 1024
                let level = 10 * log10((squares[frame + 1024] - squares[frame]) / 1024)
                return abs(level - levels[batch]) < 0.002
            }
        }
    }

    // MARK: - Errors

    @Test func `no server: error with a fix`() throws {
        for arguments in [["listen"], ["listen", "--device", "nothing"], ["devices"], ["doctor", "--latency"]] {
            let outcome = try ChildProcess.run(
                Hemiola.path, arguments, environment: ["PULSE_SERVER": "unix:\(folder("none"))", "HOME": folder.path])
            #expect(outcome.status == 1 && outcome.output.isEmpty)
            #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
            #expect(outcome.errors.contains("no sound server answers") && outcome.errors.contains("pulseaudio --start"))
            #expect(outcome.errors.contains("device \"nothing\"") == arguments.contains("nothing"))
        }
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool), arguments: SoundServer.Kind.expected)
    func `unknown device: error`(kind: SoundServer.Kind) throws {
        let server = try SoundServer(kind)
        let outcome = try start(["listen", "--device", "stag.monitor"], with: server).finish(timeout: 20)
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("stag.monitor") && outcome.errors.contains("hemiola devices"), "\(outcome.errors)")
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool)) func `presets with saved state: next run continues the schedule with a new seed`()
        throws
    {
        let server = try SoundServer(.pulseAudio)
        let environment = server.environment.merging(["XDG_STATE_HOME": folder("state")]) { $1 }
        func show(_ sink: String, presets: Int) throws -> [Record] {
            let plan = "plan-\(presets).jsonl"
            try folder.write("", to: plan)
            func records() throws -> [Record] {
                let text = try folder.text(of: plan)
                return text.hasSuffix("\n") ? try Record.all(in: text) : []
            }
            let process = try ChildProcess(
                Hemiola.path, ["listen", "--sink", sink], in: folder.path, environment: environment, output: .path(folder(plan)))
            try folder.wait(for: "presets") { try records().of("preset").count >= presets }
            process.send(SIGINT)
            #expect(try process.finish(timeout: 20).status == 130)
            return try records()
        }
        let first = try show("presets:time_s=0.4,names=Rain+Snow+Fog", presets: 3)
        let last = try #require(first.of("preset").last?.string("name"))
        #expect(try folder.text(of: "state/hemiola/visualizer.json").contains("\"\(last)\""))
        let second = try show("presets:mode=manual,names=Rain+Snow+Fog", presets: 1)
        #expect(second.of("preset").map { $0.string("name") } == [last])
        // The second run has a new seed, which is in the header.
        #expect(first.first?.int("seed") != second.first?.int("seed"))
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool)) func `--wait: starts when a server is available`() throws {
        let server = try SoundServer(.pulseAudio, isStarted: false)
        let process = try start(["listen", "--wait"], with: server)
        _ = try process.readErrorLine(containing: "waiting for auto")
        #expect(process.isRunning)
        try server.start()
        try read(process, until: "batch", count: 3)
        process.send(SIGTERM)
        let waited = try process.finish(timeout: 20)
        #expect(waited.status == 143)
        #expect(waited.errorLines.count { $0.contains("waiting for auto: no sound server answers") } == 1, "\(waited.errors)")
        let endless = try start(["listen", "--wait", "--device", "nowhere"], with: server)
        _ = try endless.readErrorLine(containing: "waiting for nowhere")
        endless.send(SIGINT)
        let outcome = try endless.finish(timeout: 20)
        #expect(outcome.status == 130 && outcome.output.isEmpty)
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool)) func `auto-input without an input: exit code 1; with --wait: reports that it waits`()
        throws
    {
        let server = try SoundServer(.pulseAudio)
        let outcome = try start(["listen", "--device", "auto-input"], with: server).finish(timeout: 20)
        #expect(outcome.status == 1 && outcome.output.isEmpty && outcome.errorLines.count == 1)
        #expect(outcome.errors.contains("no default input") && outcome.errors.contains("hemiola devices"), "\(outcome.errors)")
        let waiting = try start(["listen", "--device", "auto-input", "--wait"], with: server)
        try server.control("load-module", "module-null-source", "source_name=microphone")
        try server.control("set-default-source", "microphone")
        try read(waiting, until: "batch", count: 3)
        waiting.send(SIGINT)
        #expect(try waiting.finish(timeout: 20).status == 130)
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool)) func `silence: warning after five seconds`() throws {
        let server = try SoundServer(.pulseAudio)
        let process = try start(["listen"], with: server)
        try read(process, until: "batch", count: 230)
        process.send(SIGINT)
        let outcome = try process.finish(timeout: 20)
        #expect(outcome.errors.contains("warning: silence on \"Monitor of "), "\(outcome.errors)")
        #expect(outcome.errors.contains("see: hemiola devices"))
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool)) func `application that does not play: the warning of silence names it`() throws {
        let server = try SoundServer(.pulseAudio)
        let process = try start(["listen", "--device", "app:nothing"], with: server)
        try read(process, until: "batch", count: 230)
        process.send(SIGINT)
        let outcome = try process.finish(timeout: 20)
        #expect(outcome.errors.contains("warning: silence on \"app:nothing\""), "\(outcome.errors)")
    }

    // MARK: - Devices and doctor

    @Test(.needs(SoundServer.Kind.pulseAudio.tool), arguments: SoundServer.Kind.expected)
    func `muted output, then one at 5 %: listen, devices and doctor say so`(kind: SoundServer.Kind) throws {
        let server = try SoundServer(kind)
        for (property, value, text) in [("set-sink-mute", "1", "muted"), ("set-sink-volume", "5%", "5 %")] {
            try server.control(property, "stage", value)
            let devices = try start(["devices"], with: server).finish(timeout: 20).output
            #expect(devices.split(separator: "\n").contains { $0.contains("stage.monitor") && $0.hasSuffix(text) }, "\(devices)")
            let doctor = try start(["doctor"], with: server).finish(timeout: 20).output
            #expect(doctor.contains(", \(text)\n") && doctor.contains("pactl set-sink-mute stage 0"), "\(doctor)")
            let process = try start(["listen"], with: server)
            try read(process, until: "batch", count: 3)
            process.send(SIGINT)
            let outcome = try process.finish(timeout: 20)
            #expect(outcome.errors.contains("the output stage is \(text == "muted" ? text : "at \(text)")"), "\(outcome.errors)")
            try server.control("set-sink-mute", "stage", "0")
        }
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool), arguments: SoundServer.Kind.expected)
    func `devices and doctor: name the default device`(kind: SoundServer.Kind) throws {
        let server = try SoundServer(
            kind, sinks: [SoundServer.Sink("stage"), SoundServer.Sink("quad", sampleRate: 48_000, channelCount: 4)])
        let text = try start(["devices"], with: server).finish(timeout: 20)
        #expect(text.status == 0 && text.output.contains("*  stage.monitor") && text.output.contains("quad.monitor"), "\(text.output)")
        let list = try JSON(document: try start(["devices", "--json"], with: server).finish(timeout: 20).output)
        let quad = try #require(list["devices"]?.array.first { $0["name"]?.string == "quad.monitor" })
        #expect(quad["sample_rate"]?.int == 48_000 && quad["channels"]?.int == 4 && quad["monitor_of"]?.string == "quad")
        let player = try server.play(left: 440, right: 440, on: "stage", as: "Solo")
        try server.wait(10, for: "the application") {
            try start(["devices"], with: server).finish(timeout: 20).output.contains("app:Solo")
        }
        let applications = try JSON(document: try start(["devices", "--json"], with: server).finish(timeout: 20).output)
        let solo = try #require(applications["devices"]?.array.first { $0["name"]?.string == "app:Solo" })
        #expect(solo["kind"]?.string == "application" && quad["kind"]?.string == "monitor")
        withExtendedLifetime(player) {}
        let doctor = try start(["doctor"], with: server).finish(timeout: 20)
        #expect(doctor.output.contains("(stage.monitor)"), "\(doctor.output)")
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool), arguments: SoundServer.Kind.expected)
    func `killed latency test: the next one unloads its output`(kind: SoundServer.Kind) throws {
        let server = try SoundServer(kind)
        let killed = try start(["doctor", "--latency", "--clicks", "1000"], with: server)
        try server.wait(20, for: "its sink") { try server.sinkNames.contains { $0.hasPrefix("hemiola_latency_") } }
        let left = try #require(try server.sinkNames.first { $0.hasPrefix("hemiola_latency_") })
        killed.send(SIGKILL)
        _ = try killed.finish(timeout: 20)
        #expect(try server.sinkNames.contains(left))
        // Another test checks the detection of clicks.
        _ = try start(["doctor", "--latency", "--clicks", "2", "--json"], with: server).finish(timeout: 60)
        try server.wait(10, for: "\(left) to go") { try !server.sinkNames.contains(left) }
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool), arguments: SoundServer.Kind.expected)
    func `latency test: detects its clicks and removes its output`(kind: SoundServer.Kind) throws {
        let server = try SoundServer(kind)
        let before = try server.control("list", "short", "modules")
        // A server whose programs get no processor time for 60 ms loses what is played then, so that a click may be missing rightly.
        var runs: [JSON] = []
        while runs.count < 4, runs.last?["received"]?.int != 5 {
            let outcome = try start(["doctor", "--latency", "--clicks", "5", "--json"], with: server).finish(timeout: 40)
            let report = try JSON(document: outcome.output)
            #expect((outcome.status == 0) == (report["received"]?.int == 5), "\(outcome.output)\(outcome.errors)")
            runs.append(report)
        }
        let report = try #require(runs.last)
        #expect(report["received"]?.int == 5 && report["batch_frames"]?.int == 1024, "\(runs)")
        let median = try #require(report["median_ms"]?.double)
        // Latencies are measured on an idle machine only.
        #expect(median > 1 && median < 500)
        try server.wait(3, for: "the modules to go") { try server.control("list", "short", "modules") == before }
    }

    @Test(.needs(SoundServer.Kind.pulseAudio.tool))
    func `lead test: the sink receives a beat with each click, half a second apart`() throws {
        let server = try SoundServer(.pulseAudio)
        let receiver = try DatagramReceiver()
        let map = folder("map.yaml")
        try "- {value: 1, to: /flash, when: beat}".write(toFile: map, atomically: true, encoding: .utf8)
        let process = try start(["doctor", "--lead", "osc:127.0.0.1:\(receiver.port),map=\(map)", "--clicks", "30"], with: server)
        var times: [Double] = []
        while times.count < 8, receiver.receive(timeout: 30) != nil { times.append(ProcessInfo.processInfo.systemUptime) }
        let outcome = try process.finish(timeout: 60)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("A click every 0.5 s."))
        try #require(times.count == 8)
        let intervals = zip(times.dropFirst(), times).map { $0 - $1 }.sorted()
        // The median: a single one can be late on a busy machine.
        #expect(abs(intervals[3] - 0.5) < 0.05, "\(intervals)")
    }

    @Test(arguments: [
        (["--lead", "osk:1"], "hemiola: --lead osk:1: there is no sink \"osk\"; did you mean osc?"),
        (["--lead", "osc", "--json"], "hemiola: --lead can be combined with --clicks only; see hemiola doctor --help"),
    ])
    func `lead test with a wrong sink or option: one line`(arguments: [String], line: String) throws {
        let outcome = try ChildProcess.run(Hemiola.path, ["doctor"] + arguments, in: folder.path)
        #expect(outcome.errorLines == [line] && outcome.status == 2)
    }
}
