import Foundation
import Glibc
import Testing

/// What the tests with a display need and this machine lacks.
let missingTools: [String] =
    ["Xvfb", "openbox", "xdotool", "ffmpeg", "socat"].filter { findTool($0) == nil }
    + (FileManager.default.isExecutableFile(atPath: hemiolaPath) ? [] : ["hemiola at \(hemiolaPath) (set HEMIOLA)"])

/// Whether the tests with a display run: with CI=true a missing tool is an error.
let canRun = missingTools.isEmpty || ProcessInfo.processInfo.environment["CI"] == "true"

extension Trait where Self == ConditionTrait {
    /// `make test` runs one test for each part of the window, on one display; `make release-check WHAT=window` runs all.
    static var releaseCheck: Self {
        .enabled(if: ProcessInfo.processInfo.environment["HEMIOLA_RELEASE_CHECK"] == "1", "runs in make release-check WHAT=window")
    }
}

func findTool(_ name: String) -> String? {
    for folder in (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":") {
        if FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") { return "\(folder)/\(name)" }
    }
    return nil
}

/// The repository.
let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// The program `hemiola`: from HEMIOLA, else the one of the main package's tests.
let hemiolaPath = ProcessInfo.processInfo.environment["HEMIOLA"] ?? repository.appendingPathComponent(".build/tests/release/hemiola").path

/// The program `hemiola-window`: from HEMIOLA_WINDOW, else the one that is built beside the tests.
let windowPath = ProcessInfo.processInfo.environment["HEMIOLA_WINDOW"] ?? builtPath("hemiola-window")

/// The program from which a file is dragged, also built beside the tests.
let dragSourcePath = builtPath("DragSource")

private func builtPath(_ name: String) -> String {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appendingPathComponent(name).path
}

struct FixtureError: Error, CustomStringConvertible {
    var description: String
}

/// A program that runs during a test, and what it prints.
final class RunningProgram: @unchecked Sendable {
    // Unchecked: the output is behind the lock; the rest is only used by the test.
    private let lock = NSLock()
    private var text = ""
    let id: pid_t
    private var status: Int32?

    init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw FixtureError(description: "no pipe") }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        posix_spawn_file_actions_addclose(&actions, ends[1])
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The threads of the tests block signals, which a new process would inherit.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
        let words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        let settings: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer { for word in words + settings { free(word) } }
        var id = pid_t()
        let code = posix_spawn(&id, path, &actions, &attributes, words, settings)
        close(ends[1])
        guard code == 0 else { throw FixtureError(description: "\(path): \(String(cString: strerror(code)))") }
        self.id = id
        let input = ends[0]
        Thread.detachNewThread { [weak self] in
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while case let count = read(input, &buffer, buffer.count), count > 0 {
                guard let self else { break }
                let part = String(decoding: buffer[..<count], as: UTF8.self)
                lock.withLock { self.text += part }
            }
            close(input)
        }
    }

    var isRunning: Bool {
        if status != nil { return false }
        var code: Int32 = 0
        if waitpid(id, &code, WNOHANG) == id { status = code & 0x7F == 0 ? (code >> 8) & 0xFF : 128 + (code & 0x7F) }
        return status == nil
    }

    var output: String { lock.withLock { text } }
    var lines: [Substring] { output.split(separator: "\n") }

    /// Waits for a line that contains a text, after the first `skip` lines.
    @discardableResult
    func wait(for fragment: String, after skip: Int = 0, seconds: Double = 20) throws -> String {
        let end = Date(timeIntervalSinceNow: seconds)
        while Date() < end {
            if let line = lines.dropFirst(skip).first(where: { $0.contains(fragment) }) { return String(line) }
            usleep(20_000)
        }
        throw FixtureError(description: "no line with '\(fragment)' within \(seconds) s in:\n\(output.suffix(4000))")
    }

    /// Waits until a condition holds.
    func wait(until what: String, seconds: Double = 20, _ condition: () throws -> Bool) throws {
        let end = Date(timeIntervalSinceNow: seconds)
        while Date() < end {
            if try condition() { return }
            usleep(20_000)
        }
        throw FixtureError(description: "not within \(seconds) s: \(what), in:\n\(output.suffix(4000))")
    }

    /// Ends the program with SIGTERM and returns its exit code.
    @discardableResult
    func stop(seconds: Double = 10) -> Int32 {
        if isRunning { kill(id, SIGTERM) }
        let end = Date(timeIntervalSinceNow: seconds)
        while isRunning, Date() < end { usleep(10_000) }
        if isRunning {
            kill(id, SIGKILL)
            while isRunning { usleep(10_000) }
        }
        return status ?? -1
    }
}

/// The display server of a test.
enum DisplayServer {
    /// One monitor of 1280 x 800 pixels, X11.
    case oneMonitor
    /// A monitor of 1024 x 768 pixels and, to its right, one of 800 x 600; X11.
    case twoMonitors
    /// One monitor of 1280 x 800 pixels, Wayland. The window is the only one, and no key can be pressed.
    case wayland

    /// The programs that it needs.
    var tools: [String] {
        switch self {
        case .oneMonitor: ["Xvfb", "openbox"]
        case .twoMonitors: ["Xorg", "xrandr", "openbox"]
        case .wayland: ["weston"]
        }
    }

    /// Why tests with this server cannot run here; nil: they can.
    var reason: String? {
        let missing = tools.filter { findTool($0) == nil } + (self == .twoMonitors && !Self.hasDummyDriver ? ["Xorg's driver dummy"] : [])
        return missing.isEmpty ? nil : "not installed: \(missing.joined(separator: ", "))"
    }

    private static let hasDummyDriver = FileManager.default.fileExists(atPath: "/usr/lib/xorg/modules/drivers/dummy_drv.so")

    /// Whether tests with this server run.
    var canRun: Bool { reason == nil || ProcessInfo.processInfo.environment["CI"] == "true" }

    /// The program and its arguments. X11 servers print the number of the display.
    fileprivate func command(_ folder: URL) throws -> (path: String, arguments: [String]) {
        switch self {
        case .oneMonitor:
            return (findTool("Xvfb")!, ["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"])
        case .twoMonitors:
            let file = folder.appendingPathComponent("xorg.conf").path
            try """
            Section "Device"
                Identifier "device"
                Driver "dummy"
                VideoRam 65536
            EndSection
            Section "Screen"
                Identifier "screen"
                Device "device"
                DefaultDepth 24
            EndSection
            Section "ServerFlags"
                Option "AutoAddDevices" "false"
                Option "AutoEnableDevices" "false"
            EndSection
            """.write(toFile: file, atomically: true, encoding: .utf8)
            return (
                "/usr/lib/xorg/Xorg",
                [
                    "-displayfd", "1", "-config", file, "-logfile", folder.appendingPathComponent("xorg.log").path, "-noreset", "-nolisten",
                    "tcp",
                    "-novtswitch", "-sharevts",
                ]
            )
        case .wayland:
            return (
                findTool("weston")!,
                ["--backend=headless-backend.so", "--socket=wayland-test", "--width=1280", "--height=800", "--idle-time=0", "--use-pixman"]
            )
        }
    }
}

/// A private display with a window manager, a private home folder, and a running hemiola.
final class Fixture {
    let folder: URL
    let display: String
    private let kind: DisplayServer
    private let server: RunningProgram
    private let manager: RunningProgram?
    private(set) var hemiola: RunningProgram?
    var socket: String { folder.appendingPathComponent("run/show.sock").path }

    init(_ kind: DisplayServer = .oneMonitor) throws {
        guard missingTools.isEmpty else { throw FixtureError(description: "not installed: \(missingTools.joined(separator: ", "))") }
        if let reason = kind.reason { throw FixtureError(description: reason) }
        self.kind = kind
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("hemiola-window-\(UUID().uuidString.prefix(8))")
        for name in ["home", "run", "pages"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let command = try kind.command(folder)
        let home = folder.appendingPathComponent("home").path
        let run = folder.appendingPathComponent("run").path
        let server = try RunningProgram(command.path, command.arguments, environment: ["XDG_RUNTIME_DIR": run, "HOME": home])
        self.server = server
        var isStarted = false
        defer { if !isStarted { server.stop() } }
        let end = Date(timeIntervalSinceNow: 20)
        if kind == .wayland {
            while !FileManager.default.fileExists(atPath: "\(run)/wayland-test"), server.isRunning, Date() < end { usleep(10_000) }
            (display, manager, isStarted) = ("", nil, true)
            return
        }
        while server.lines.allSatisfy({ Int($0) == nil }), server.isRunning, Date() < end { usleep(10_000) }
        guard let number = server.lines.compactMap({ Int($0) }).first else {
            throw FixtureError(description: "no display: \(server.output)")
        }
        display = ":\(number)"
        if kind == .twoMonitors {
            for arguments in [
                ["--output", "DUMMY0", "--mode", "1024x768"], ["--addmode", "DUMMY1", "800x600"],
                // The server notices with the next query that the second output has become connected.
                ["--output", "DUMMY1", "--mode", "800x600", "--right-of", "DUMMY0"], ["--query"],
            ] {
                let program = try RunningProgram(findTool("xrandr")!, arguments, environment: ["DISPLAY": display])
                while program.isRunning { usleep(10_000) }
                if program.stop() != 0 { throw FixtureError(description: "xrandr: \(program.output)") }
            }
        }
        manager = try RunningProgram(findTool("openbox")!, [], environment: ["DISPLAY": display, "HOME": home])
        isStarted = true
        usleep(300_000)
    }

    var environment: [String: String] {
        let home = folder.appendingPathComponent("home").path
        let server =
            kind == .wayland
            ? ["DISPLAY": "", "WAYLAND_DISPLAY": "wayland-test", "GDK_BACKEND": "wayland"] : ["DISPLAY": display, "GDK_BACKEND": "x11"]
        return [
            "LIBGL_ALWAYS_SOFTWARE": "1", "GSETTINGS_BACKEND": "memory", "HOME": home,
            "XDG_RUNTIME_DIR": folder.appendingPathComponent("run").path, "XDG_STATE_HOME": "\(home)/state",
            "XDG_DATA_HOME": "\(home)/data",
            "XDG_CACHE_HOME": "\(home)/cache", "XDG_CONFIG_HOME": "\(home)/config", "GTK_A11Y": "none",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
        ].merging(server) { $1 }
    }

    func stop() {
        hemiola?.stop()
        manager?.stop()
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Starts hemiola on a file of `seconds` of silence and then music, at real-time speed.
    func startHemiola(silence: Double = 0, music: Double = 120, sinks: [String] = []) throws {
        let file = folder.appendingPathComponent("sound.wav")
        if !FileManager.default.fileExists(atPath: file.path) { try Self.sound(silence: silence, music: music).write(to: file) }
        hemiola = try RunningProgram(
            hemiolaPath, ["analyze", file.path, "--sink", "socket:\(socket)"] + sinks.flatMap { ["--sink", $0] }, environment: environment)
        let end = Date(timeIntervalSinceNow: 20)
        while !FileManager.default.fileExists(atPath: socket), Date() < end { usleep(50_000) }
    }

    func stopHemiola() {
        hemiola?.stop()
        hemiola = nil
    }

    /// A WAV file: silence, then two tones with a click every half second.
    private static func sound(silence: Double, music: Double) -> Data {
        let rate = 44_100
        let count = Int((silence + music) * Double(rate))
        var samples = [Int16](repeating: 0, count: 2 * count)
        for index in Int(silence * Double(rate))..<count {
            let time = Double(index) / Double(rate)
            let click = index % (rate / 2) < 400 ? 8000.0 * Double(index % 2 * 2 - 1) : 0
            samples[2 * index] = Int16(9000 * sin(2 * .pi * 220 * time) + click)
            samples[2 * index + 1] = Int16(9000 * sin(2 * .pi * 331 * time) + click)
        }
        var data = Data("RIFF".utf8)
        func append<Value: FixedWidthInteger>(_ value: Value) { withUnsafeBytes(of: value.littleEndian) { data.append(contentsOf: $0) } }
        append(UInt32(36 + 4 * count))
        data.append(Data("WAVEfmt ".utf8))
        append(UInt32(16))
        append(UInt16(1))
        append(UInt16(2))
        append(UInt32(rate))
        append(UInt32(4 * rate))
        append(UInt16(4))
        append(UInt16(16))
        data.append(Data("data".utf8))
        append(UInt32(4 * count))
        samples.withUnsafeBytes { data.append(contentsOf: $0) }
        return data
    }

    /// Writes a page and returns its folder. `report(name, value)` prints a line of the window.
    func page(_ name: String, script: String, body: String = "", head: String = "") throws -> String {
        let page = folder.appendingPathComponent("pages/\(name)")
        try FileManager.default.createDirectory(at: page, withIntermediateDirectories: true)
        let html = """
            <!doctype html><html><head><title>\(name)</title>\(head)</head><body>\(body)
            <script>
            const report = (name, value = null) => console.log(`REPORT ${name} ${JSON.stringify(value)}`);
            \(script)
            </script></body></html>
            """
        try html.write(to: page.appendingPathComponent("index.html"), atomically: true, encoding: .utf8)
        return page.path
    }

    /// Starts a window. `settings`: more variables of its environment.
    func window(_ arguments: [String], connects: Bool = true, settings: [String: String] = [:]) throws -> RunningProgram {
        try RunningProgram(
            windowPath, (connects ? ["--socket", socket] : []) + arguments, environment: environment.merging(settings) { $1 })
    }

    /// Runs a program to its end and returns its output.
    @discardableResult
    func run(_ path: String, _ arguments: [String]) throws -> (code: Int32, output: String) {
        let program = try RunningProgram(path, arguments, environment: environment)
        let end = Date(timeIntervalSinceNow: 30)
        while program.isRunning, Date() < end { usleep(10_000) }
        let code = program.stop()
        usleep(50_000)
        return (code, program.output)
    }

    func xdotool(_ arguments: String...) throws {
        _ = try run(findTool("xdotool")!, arguments)
    }

    /// Presses a key in the window.
    func key(_ name: String) throws {
        try xdotool("key", "--clearmodifiers", name)
    }

    /// `hemiola send`, to the hemiola of this fixture.
    @discardableResult
    func send(_ arguments: String...) throws -> (code: Int32, output: String) {
        try run(hemiolaPath, ["send", "--socket", socket] + arguments)
    }
}

/// The JSON value of a reported line.
func value(_ line: String, _ name: String) throws -> Any {
    guard let range = line.range(of: "REPORT \(name) ") else { throw FixtureError(description: line) }
    return try JSONSerialization.jsonObject(with: Data(line[range.upperBound...].utf8), options: .fragmentsAllowed)
}

extension Fixture {
    /// The pixels of the display, RGB, and a PNG file of them in the folder HEMIOLA_PICTURES if it is set.
    func picture(_ name: String) throws -> [UInt8] {
        let raw = folder.appendingPathComponent("\(name).rgb")
        let grab = ["-v", "error", "-y", "-f", "x11grab", "-video_size", "1280x800", "-i", display, "-frames:v", "1"]
        try run(findTool("ffmpeg")!, grab + ["-f", "rawvideo", "-pix_fmt", "rgb24", raw.path])
        if let pictures = ProcessInfo.processInfo.environment["HEMIOLA_PICTURES"] {
            try run(findTool("ffmpeg")!, grab + ["\(pictures)/\(name).png"])
        }
        return Array(try Data(contentsOf: raw))
    }
}
