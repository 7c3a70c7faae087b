public import Foundation
import Glibc

/// A headless Chromium with its own profile. It is killed with its children on deinitialization, and shortly after the end of this process
/// however the process ends.
///
/// Use from one thread. All calls block it, each with a time limit.
public final class Browser {
    public struct Failure: Error, CustomStringConvertible {
        public var description: String

        public init(description: String) {
            self.description = description
        }
    }

    /// The program, for a test's condition.
    public static let tool = Tool.program("chromium")

    /// The connection to its DevTools.
    let connection: BrowserConnection
    private let process: ChildProcess
    private let folder: TemporaryFolder
    /// The page that decodes pictures.
    private var decoder: BrowserPage?

    /// Starts the browser with its default autoplay policy, and connects to its DevTools.
    ///
    /// - Parameter flags: Further command line flags.
    public init(flags: [String] = []) throws {
        guard let program = Tool.location(of: "chromium") else { throw Failure(description: Self.tool.reason) }
        folder = try TemporaryFolder()
        for name in ["home", "run", "tmp"] {
            try FileManager.default.createDirectory(
                atPath: folder(name), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        let line = [program] + Self.flags + flags + ["--user-data-dir=\(folder("profile"))", "about:blank"]
        process = try Self.launch(line, folder)
        let (port, path) = try Self.address(process, folder("profile/DevToolsActivePort"))
        connection = try BrowserConnection(port: port, path: path)
    }

    deinit {
        connection.close()
        // The browser leads a process group, which contains its children.
        kill(-process.identifier, SIGKILL)
        let end = ProcessInfo.processInfo.systemUptime + 2
        while process.isRunning, ProcessInfo.processInfo.systemUptime < end { usleep(2000) }
    }

    /// The process id, which is also that of the process group of all its processes.
    public var identifier: pid_t { process.identifier }

    /// The URL that opens no page.
    public static let blank = "about:blank"

    /// Opens a tab in a window of its own and loads a page.
    ///
    /// - Parameters:
    ///   - size: Width and height of the viewport in CSS pixels.
    ///   - script: A script that runs in the page before its own scripts, also after each reload.
    ///   - waits: Whether the call returns only after the page's load event.
    public func open(
        _ url: String, size: (width: Int, height: Int) = (960, 600), script: String? = nil, waits: Bool = true
    ) throws -> BrowserPage {
        let page = try BrowserPage(browser: self, connection)
        try page.setSize(size.width, size.height)
        if let script { try page.addScript(script) }
        if url != Self.blank { try page.load(url, waits: waits) }
        return page
    }

    /// Decodes a PNG.
    func decode(png: Data) throws -> BrowserPicture {
        // A page that keeps the browser would be a reference cycle.
        let page = try self.decoder ?? BrowserPage(browser: nil, connection)
        self.decoder = page
        return try page.decode(png: png)
    }

    // MARK: - Start

    private static let flags = [
        "--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
        "--disable-dev-shm-usage", "--remote-debugging-port=0", "--no-first-run", "--no-proxy-server", "--mute-audio",
        "--disable-breakpad", "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--force-color-profile=srgb", "--hide-scrollbars",
    ]

    /// Starts a process group that ends with this process: a shell kills it when the pipe from this process is closed.
    ///
    /// The environment contains no display and no sound server: the browser would be a client of the sound server under test.
    private static func launch(_ line: [String], _ folder: TemporaryFolder) throws -> ChildProcess {
        let script = """
            exec 3<&0
            (cat <&3; kill -KILL -$$) >/dev/null 2>&1 &
            exec "$@" 3<&- </dev/null >/dev/null 2>"$TMPDIR/../log"
            """
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let environment = [
            "PATH=\(path)", "HOME=\(folder("home"))", "XDG_RUNTIME_DIR=\(folder("run"))", "TMPDIR=\(folder("tmp"))", "LC_ALL=C.UTF-8",
            "DBUS_SESSION_BUS_ADDRESS=disabled:", "TZ=UTC",
        ]
        // setsid does not fork here, because the new process leads no group: its process id is that of the group.
        return try ChildProcess(
            "/usr/bin/setsid", ["/usr/bin/env", "-i"] + environment + ["/bin/sh", "-c", script, "sh"] + line,
            input: .bytes([], staysOpen: true))
    }

    /// The port and path of the DevTools, which the browser writes to a file of its profile.
    private static func address(_ process: ChildProcess, _ file: String) throws -> (port: Int, path: String) {
        let end = ProcessInfo.processInfo.systemUptime + 60
        while ProcessInfo.processInfo.systemUptime < end {
            let lines = (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: "\n") ?? []
            if lines.count == 2, let port = Int(lines[0]) { return (port, String(lines[1])) }
            guard process.isRunning else { break }
            usleep(10_000)
        }
        throw Failure(description: "Chromium has not started")
    }
}
