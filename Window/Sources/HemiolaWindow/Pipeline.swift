import CWebKit
import CWindow
import Glibc

/// A hemiola at the default path of the socket, which the window starts where none runs, or none any more. It ends with the window.
final class Pipeline {
    /// Seconds from the end of a pipeline to its next start; doubled, up to the last value, while it ends within the first value.
    private static let retrySeconds = 5.0...60.0

    private let program: String
    private let socketPath: String
    private var process: Int32 = -1
    private var timer: Timer?
    private var startTime = 0.0
    private var delay = retrySeconds.lowerBound
    private var isStopped = false

    /// - Parameter socketPath: The default path of the socket.
    init(program: String, socketPath: String) {
        self.program = program
        self.socketPath = socketPath
    }

    /// Starts the program, unless it runs or will be started again. False: errno is set.
    func start() -> Bool {
        if isStopped || process > 0 || timer != nil { return true }
        let texts: [String] = [program, "listen", "--sink", "socket", "--sink", "presets:bars=8"]
        let arguments: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        process = cwindow_spawn(arguments)
        guard process > 0 else { return false }
        startTime = monotonicSeconds()
        let callback: GChildWatchFunc = { _, status, data in
            let pipeline: Pipeline = owner(data)
            MainActor.assumeIsolated { pipeline.ended(status) }
        }
        g_child_watch_add(process, callback, data(self))
        return true
    }

    private func ended(_ status: Int32) {
        process = -1
        // Another window, or the user, may have started one at the same time.
        if isStopped || isServed { return }
        let code = status & 0x7F == 0 ? "exit code \((status >> 8) & 0xFF)" : "signal \(status & 0x7F)"
        if monotonicSeconds() - startTime > Self.retrySeconds.lowerBound { delay = Self.retrySeconds.lowerBound }
        printMessage("\(program): the pipeline has ended: \(code); starting it again in \(Int(delay)) s")
        let seconds = delay
        delay = min(2 * delay, Self.retrySeconds.upperBound)
        timer = Timer(every: seconds) { [unowned self] in
            timer = nil
            if !isServed, !start() { printMessage("\(program): \(String(cString: strerror(errno)))") }
            return false
        }
    }

    /// Whether a process listens at the path.
    private var isServed: Bool {
        guard let connection = LineConnection(path: socketPath) else { return false }
        connection.close()
        return true
    }

    /// Ends the program.
    func stop() {
        isStopped = true
        timer?.stop()
        if process > 0 { kill(process, SIGTERM) }
    }
}
