import FoundationEssentials
import WindowCore

/// The window's own connection to Hemiola, for tabs and requests; opened again when it ends.
final class ControlConnection {
    private static let retryMinimum = 0.25
    private static let retryMaximum = 5.0

    /// Called with every message.
    var onMessage: ((WindowMessage) -> Void)?
    /// Called when nothing listens at the path.
    var onRefusal: (() -> Void)?
    private let path: String
    private var connection: LineConnection?
    private var timer: Timer?
    private var delay = retryMinimum

    init(path: String) {
        self.path = path
    }

    /// Connects, or retries until it can.
    func open() {
        guard let line = LineConnection(path: path) else {
            onRefusal?()
            return retry()
        }
        connection = line
        line.onLines = { [unowned self] lines in
            delay = Self.retryMinimum
            for text in lines.split(separator: "\n") { onMessage?(WindowMessage(Data(text.utf8))) }
        }
        line.onClosed = { [unowned self] in
            connection = nil
            retry()
        }
        for text in WindowMessage.greeting { line.send(text) }
    }

    private func retry() {
        timer = Timer(every: delay) { [unowned self] in
            timer = nil
            open()
            return false
        }
        delay = min(Self.retryMaximum, delay * 2)
    }

    /// Sends a line, with or without its newline. Lost while there is no connection.
    func send(_ line: String) {
        connection?.send(line.last == "\n" ? String(line.dropLast()) : line)
    }

    /// Ends the connection.
    func close() {
        timer?.stop()
        connection?.close()
        connection = nil
    }
}
