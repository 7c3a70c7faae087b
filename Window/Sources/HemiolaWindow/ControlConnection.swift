import FoundationEssentials
import HemiolaSystem
import WindowCore

/// The window's own connection to Hemiola, for tabs and requests; opened again when it ends.
final class ControlConnection {
    /// Called with every message.
    var onMessage: ((WindowMessage) -> Void)?
    /// Called at each attempt while nothing listens at the path.
    var onRefusal: (() -> Void)?
    private let path: SocketPath
    private var connection: LineConnection?
    private var timer: Timer?
    private var delay = RetryDelay(longest: 1)

    init(path: SocketPath) {
        self.path = path
    }

    /// Connects, or retries until it can.
    func open() {
        guard let line = try? LineConnection(path) else {
            onRefusal?()
            return retry()
        }
        connection = line
        line.onLines = { [unowned self] lines in
            delay.reset()
            for text in lines.split(separator: "\n") { onMessage?(WindowMessage(Data(text.utf8))) }
        }
        line.onClosed = { [unowned self] in
            connection = nil
            retry()
        }
        for text in WindowMessage.greeting { line.send(text) }
    }

    private func retry() {
        timer = Timer(every: delay.noteFailure(at: MonotonicTime.now)) { [unowned self] in
            timer = nil
            open()
            return false
        }
    }

    /// Sends a line, without a line feed at its end. Lost while there is no connection.
    func send(_ line: String) {
        connection?.send(line)
    }

    /// Ends the connection.
    func close() {
        timer?.stop()
        connection?.close()
        connection = nil
    }
}
