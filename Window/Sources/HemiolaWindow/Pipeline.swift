import CWebKit
import CWindow
import HemiolaSystem

/// A hemiola at the default path of the socket, which the window starts where none runs, or none any more. It ends with the window.
final class Pipeline {
    private let program: String
    private let path: SocketPath
    private var process: GPid = 0
    private var delay = RetryDelay(first: 5, longest: 60)
    private var isStopped = false

    /// - Parameter path: The default path of the socket.
    init(program: String, path: SocketPath) {
        self.program = program
        self.path = path
    }

    /// Starts the program, unless it runs, or has ended a short time ago.
    func start() throws(Problem) {
        guard !isStopped, process == 0, MonotonicTime.now >= delay.nextAttempt else { return }
        let texts: [String] = [program, "listen", "--sink", "socket", "--sink", "presets:bars=8"]
        var arguments: [UnsafeMutablePointer<CChar>?] = texts.map { g_strdup($0) } + [nil]
        defer { for argument in arguments { g_free(argument) } }
        let flags = G_SPAWN_SEARCH_PATH.rawValue | G_SPAWN_DO_NOT_REAP_CHILD.rawValue | G_SPAWN_STDOUT_TO_DEV_NULL.rawValue
        let parent = UnsafeMutableRawPointer(bitPattern: Int(CurrentProcess.identifier))
        var error: UnsafeMutablePointer<GError>?
        guard g_spawn_async(nil, &arguments, nil, GSpawnFlags(flags), cwindow_end_with_parent, parent, &process, &error) != 0 else {
            throw Problem("\(program): \(take(error))")
        }
        delay.noteStart(at: MonotonicTime.now)
        let callback: GChildWatchFunc = { _, status, data in
            let pipeline: Pipeline = owner(data)
            MainActor.assumeIsolated { pipeline.ended(status) }
        }
        g_child_watch_add(process, callback, data(self))
    }

    private func ended(_ status: Int32) {
        process = 0
        // Another window, or the user, may have started one at the same time.
        if isStopped || (try? UnixAddress.isListening(at: path.path)) == true { return }
        let code = status & 0x7F == 0 ? "exit code \((status >> 8) & 0xFF)" : "signal \(status & 0x7F)"
        let pause = delay.noteFailure(at: MonotonicTime.now)
        printMessage("\(program): the pipeline has ended: \(code); starting it again in \(Int(pause)) s")
    }

    /// Ends the program.
    func stop() {
        isStopped = true
        if process > 0 { kill(process, SIGTERM) }
    }
}
