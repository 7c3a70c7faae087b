import CWebKit
import CWindow
import Glibc

/// A hemiola that the window has started, because none was running. It ends with the window.
final class Pipeline {
    /// Seconds from the end of a pipeline to its next start; doubled, up to the last value, while it ends within the first value.
    private static let retrySeconds = 5.0...60.0

    /// The socket of the pipeline, in a folder that only the user can enter.
    let socketPath: String
    private let program: String
    private let folder: String
    private var process: Int32 = -1
    private var timer: Timer?
    private var startTime = 0.0
    private var delay = retrySeconds.lowerBound
    private var isStopped = false

    /// Starts the program.
    init?(program: String, folder: String) {
        self.program = program
        self.folder = folder
        socketPath = "\(folder)/hemiola.sock"
        guard start() else { return nil }
    }

    private func start() -> Bool {
        let texts: [String] = [program, "listen", "--sink", "socket:\(socketPath)"]
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
        if isStopped { return }
        let code = status & 0x7F == 0 ? "exit code \((status >> 8) & 0xFF)" : "signal \(status & 0x7F)"
        if monotonicSeconds() - startTime > Self.retrySeconds.lowerBound { delay = Self.retrySeconds.lowerBound }
        printMessage("\(program): the pipeline has ended: \(code); starting it again in \(Int(delay)) s")
        let seconds = delay
        delay = min(2 * delay, Self.retrySeconds.upperBound)
        timer = Timer(every: seconds) { [unowned self] in
            timer = nil
            if !start() { printMessage("\(program): \(String(cString: strerror(errno)))") }
            return false
        }
    }

    /// Ends the program.
    func stop() {
        isStopped = true
        timer?.stop()
        if process > 0 { kill(process, SIGTERM) }
    }
}
