import Foundation
import Glibc
import Synchronization
import Testing

/// What the tests with a display need and this machine lacks.
let missingTools: [String] =
    ["Xvfb", "openbox", "xdotool", "xprop", "ffmpeg", "socat"].filter { findTool($0) == nil }
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
let windowPath =
    ProcessInfo.processInfo.environment["HEMIOLA_WINDOW"]
    ?? URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appendingPathComponent("hemiola-window").path

struct FixtureError: Error, CustomStringConvertible {
    var description: String
}

/// The seconds after which a wait fails, so that no test hangs. No test expects anything within this time.
let waitLimit = 60.0

/// The empty file that bubblewrap leaves in the root folder of the computer when root runs a window. While it exists, WebKit runs pages without a
/// sandbox, and PipeWire refuses all programs.
private enum SandboxFile {
    private static let path = "/.flatpak-info"
    /// How many windows run.
    private static let windows = Mutex(0)

    static func windowStarted() {
        windows.withLock { $0 += 1 }
    }

    /// Removes the file after the last window: without it, a sandbox that another window is making would fail.
    static func windowEnded() {
        windows.withLock { windows in
            windows -= 1
            var status = stat()
            guard windows == 0, geteuid() == 0, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 else {
                return
            }
            unlink(path)
        }
    }
}

/// A program that runs during a test, and what it prints.
final class RunningProgram: @unchecked Sendable {
    // Unchecked: what changes is behind the condition, which is signalled by the threads that read the output and wait for the end.
    private let condition = NSCondition()
    private var bytes: [UInt8] = []
    private var isOutputComplete = false
    private var status: Int32?
    /// Incremented with each change of the others.
    private var changes = 0
    private let isWindow: Bool
    let id: pid_t

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
        isWindow = path == windowPath
        if isWindow { SandboxFile.windowStarted() }
        let input = ends[0]
        Thread.detachNewThread { [self] in read(input) }
        Thread.detachNewThread { [self] in reap() }
    }

    /// Reads the output to its end: that of the last process that has inherited it.
    private func read(_ input: Int32) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = Glibc.read(input, &buffer, buffer.count), count > 0 {
            change { bytes += buffer[..<count] }
        }
        close(input)
        change { isOutputComplete = true }
    }

    /// Waits for the end of the program. Its id stays valid until its status is stored.
    private func reap() {
        var information = siginfo_t()
        let flags = Int32(WEXITED) | Int32(WNOWAIT)
        while waitid(P_PID, id_t(id), &information, flags) != 0, errno == EINTR {}
        if isWindow { SandboxFile.windowEnded() }
        change {
            var code: Int32 = 0
            waitpid(id, &code, 0)
            status = code & 0x7F == 0 ? (code >> 8) & 0xFF : 128 + (code & 0x7F)
        }
    }

    private func change(_ body: () -> Void) {
        condition.withLock {
            body()
            changes += 1
            condition.broadcast()
        }
    }

    var isRunning: Bool { condition.withLock { status == nil } }

    var output: String { String(decoding: condition.withLock { bytes }, as: UTF8.self) }

    /// The complete lines of the output.
    var lines: [Substring] {
        let (text, isComplete) = condition.withLock { (bytes, isOutputComplete) }
        let end = isComplete ? text.count : (text.lastIndex(of: UInt8(ascii: "\n")) ?? 0)
        return String(decoding: text[..<end], as: UTF8.self).split(separator: "\n")
    }

    /// Waits for a line that contains a text, after the first `skip` lines.
    @discardableResult
    func wait(for fragment: String, after skip: Int = 0) throws -> String {
        var line: Substring?
        try wait(until: "a line with '\(fragment)'") {
            line = lines.dropFirst(skip).first { $0.contains(fragment) }
            return line != nil
        }
        return String(line!)
    }

    /// Waits until a condition on the output holds. It is checked again when the program has printed something or has ended.
    func wait(until what: String, _ holds: () throws -> Bool) throws {
        let end = Date(timeIntervalSinceNow: waitLimit)
        while true {
            let (seen, hasEnded) = condition.withLock { (changes, isOutputComplete && status != nil) }
            if try holds() { return }
            let reason = hasEnded ? "the program has ended" : waitForChange(since: seen, until: end) ? nil : "not within \(waitLimit) s"
            if let reason { throw FixtureError(description: "\(reason): \(what), in:\n\(output.suffix(20_000))") }
        }
    }

    /// Waits until the number of changes is another one. False: it is still the same at the given time.
    private func waitForChange(since seen: Int, until end: Date) -> Bool {
        condition.withLock {
            while changes == seen {
                if !condition.wait(until: end) { return changes != seen }
            }
            return true
        }
    }

    /// Waits until the program and all that have inherited its output have ended, and returns its exit code.
    @discardableResult
    func waitForEnd() throws -> Int32 {
        try wait(until: "the program ends") { condition.withLock { isOutputComplete && status != nil } }
        return condition.withLock { status! }
    }

    /// Ends the program with SIGTERM and returns its exit code.
    @discardableResult
    func stop() -> Int32 {
        condition.withLock {
            if status == nil { kill(id, SIGTERM) }
            let end = Date(timeIntervalSinceNow: waitLimit)
            while status == nil, condition.wait(until: end) {}
            if status == nil { kill(id, SIGKILL) }
            while status == nil { condition.wait() }
            return status!
        }
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
        if kind == .wayland {
            try waitForFile("wayland-test", in: run)
            (display, manager, isStarted) = ("", nil, true)
            return
        }
        var number: Int?
        try server.wait(until: "the number of the display") {
            number = server.lines.compactMap { Int($0) }.first
            return number != nil
        }
        display = ":\(number!)"
        if kind == .twoMonitors {
            for arguments in [
                ["--output", "DUMMY0", "--mode", "1024x768"], ["--addmode", "DUMMY1", "800x600"],
                // The server notices with the next query that the second output has become connected.
                ["--output", "DUMMY1", "--mode", "800x600", "--right-of", "DUMMY0"], ["--query"],
            ] {
                let program = try RunningProgram(findTool("xrandr")!, arguments, environment: ["DISPLAY": display])
                if try program.waitForEnd() != 0 { throw FixtureError(description: "xrandr: \(program.output)") }
            }
        }
        manager = try RunningProgram(findTool("openbox")!, [], environment: ["DISPLAY": display, "HOME": home])
        defer { if !isStarted { manager?.stop() } }
        // From now on, the window manager decides about new windows. Without names, xprop also prints properties that do not exist yet.
        let properties = try RunningProgram(findTool("xprop")!, ["-root", "-spy"], environment: ["DISPLAY": display])
        defer { properties.stop() }
        try properties.wait(for: "_NET_SUPPORTING_WM_CHECK(WINDOW): window id")
        isStarted = true
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
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "HEMIOLA_WINDOW_ALLOW_ROOT": "1",
        ].merging(server) { $1 }
    }

    func stop() {
        hemiola?.stop()
        manager?.stop()
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Starts hemiola on a file of `seconds` of music, or of silence, at real-time speed.
    func startHemiola(seconds: Int = 120, isSilent: Bool = false, sinks: [String] = []) throws {
        let file = try sound(seconds: seconds, isSilent: isSilent)
        let program = try RunningProgram(
            hemiolaPath, ["analyze", file, "--sink", "socket:\(socket)"] + sinks.flatMap { ["--sink", $0] }, environment: environment)
        hemiola = program
        // Hemiola prints the path when clients can connect.
        try program.wait(for: socket)
    }

    /// The path of a WAV file of music or silence.
    func sound(seconds: Int = 120, isSilent: Bool = false) throws -> String {
        let file = folder.appendingPathComponent("\(isSilent ? "silence" : "music")-\(seconds).wav")
        if !FileManager.default.fileExists(atPath: file.path) { try Self.sound(seconds: seconds, isSilent: isSilent).write(to: file) }
        return file.path
    }

    func stopHemiola() {
        hemiola?.stop()
        hemiola = nil
    }

    /// A WAV file: silence, or two tones with a click every half second.
    private static func sound(seconds: Int, isSilent: Bool) -> Data {
        let rate = 44_100
        let count = seconds * rate
        // Each second is the same.
        var second = [Int16](repeating: 0, count: 2 * rate)
        for index in 0..<rate where !isSilent {
            let time = Double(index) / Double(rate)
            let click = index % (rate / 2) < 400 ? 8000.0 * Double(index % 2 * 2 - 1) : 0
            second[2 * index] = Int16(9000 * sin(2 * .pi * 220 * time) + click)
            second[2 * index + 1] = Int16(9000 * sin(2 * .pi * 331 * time) + click)
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
        second.withUnsafeBytes { bytes in
            for _ in 0..<seconds { data.append(contentsOf: bytes) }
        }
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
        defer { program.stop() }
        return (try program.waitForEnd(), program.output)
    }

    func xdotool(_ arguments: String...) throws {
        let result = try run(findTool("xdotool")!, arguments)
        if result.code != 0 { throw FixtureError(description: "xdotool \(arguments): \(result.output)") }
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

extension RunningProgram {
    /// Waits until the window is drawn with this page loaded, and the page gets the keys.
    func waitUntilReady(_ page: String, after skip: Int = 0) throws {
        try wait(until: "\(page): ready") { lines.dropFirst(skip).contains("\(page): ready") }
    }
}

extension Fixture {
    /// WebKitGTK loses a change of the page's size that begins before it has drawn the last one, and neither the page nor the window is told
    /// when it has.
    func letWebKitDraw() { sleep(1) }

    /// Presses a key in the window, and waits until another page is ready, or the same one again.
    func key(_ name: String, shows page: String, in window: RunningProgram) throws {
        let count = window.lines.count
        try key(name)
        try window.waitUntilReady(page, after: count)
    }

    /// Waits until a window with a title has the keyboard.
    func waitForFocus(ofWindowNamed title: String) throws {
        let result = try run(findTool("xdotool")!, ["search", "--sync", "--onlyvisible", "--name", title])
        guard let id = result.output.split(separator: "\n").compactMap({ Int($0) }).last else {
            throw FixtureError(description: "no window \(title): \(result.output)")
        }
        let active = try RunningProgram(findTool("xprop")!, ["-root", "-spy", "_NET_ACTIVE_WINDOW"], environment: environment)
        defer { active.stop() }
        let line = "window id # 0x\(String(id, radix: 16))"
        try active.wait(until: "\(title) has the keyboard") { active.lines.last?.hasSuffix(line) == true }
    }

    /// Repeats a question to another program until the answer is as expected, for states that no event shows. It needs no pause: each question
    /// takes the time of a process.
    func wait(until what: String, _ holds: () throws -> Bool) throws {
        let end = Date(timeIntervalSinceNow: waitLimit)
        while Date() < end {
            if try holds() { return }
        }
        throw FixtureError(description: "not within \(waitLimit) s: \(what)")
    }
}

/// Waits until a file exists.
func waitForFile(_ name: String, in folder: String) throws {
    let descriptor = inotify_init1(Int32(IN_CLOEXEC))
    guard descriptor >= 0 else { throw FixtureError(description: "inotify: \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    inotify_add_watch(descriptor, folder, UInt32(IN_CREATE | IN_MOVED_TO))
    var events = [UInt8](repeating: 0, count: 4096)
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while !FileManager.default.fileExists(atPath: "\(folder)/\(name)") {
        guard poll(&entry, 1, Int32(waitLimit * 1000)) == 1 else { throw FixtureError(description: "no \(folder)/\(name)") }
        _ = read(descriptor, &events, events.count)
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
