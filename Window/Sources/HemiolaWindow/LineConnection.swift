import CWebKit
import CWindow
import Glibc

/// A connection to Hemiola's Unix socket: lines in both directions, on the main loop.
///
/// While it is paused nothing is read, so that Hemiola drops batches for this client instead of the window storing them.
final class LineConnection {
    /// Longest line that is received, in bytes.
    static let maximumLine = 2 << 20
    /// Bytes that can wait until Hemiola reads them.
    static let maximumWaiting = 4 << 20
    /// Bytes that are read before other sources of the main loop run.
    private static let readSize = 256 << 10

    /// Called with complete lines, separated by line feeds.
    var onLines: ((String) -> Void)?
    /// Called once when the connection ends other than by `close()`.
    var onClosed: (() -> Void)?

    private var descriptor: Int32
    private var readSource: guint = 0
    private var writeSource: guint = 0
    private var received: [UInt8] = []
    private var waiting: [UInt8] = []
    private var isPaused = false

    /// Connects. Returns nil and sets errno when nothing listens at the path, or a program of another user at the default path (EPERM).
    init?(path: String) {
        let isDefault = path == DefaultSocket.path
        if isDefault, DefaultSocket.isUnsafe {
            errno = EPERM
            return nil
        }
        descriptor = cwindow_connect_socket(path, isDefault ? 1 : 0)
        guard descriptor >= 0 else { return nil }
        watch()
    }

    /// Whether a window has started the program that listens.
    var serverIsOfWindow: Bool { cwindow_server_is_of_window(descriptor) != 0 }

    private func watch() {
        guard readSource == 0, descriptor >= 0, !isPaused else { return }
        let callback: GUnixFDSourceFunc = { _, _, data in
            let connection: LineConnection = owner(data)
            return MainActor.assumeIsolated { connection.read() ? 1 : 0 }
        }
        readSource = g_unix_fd_add(
            descriptor, GIOCondition(rawValue: G_IO_IN.rawValue | G_IO_HUP.rawValue | G_IO_ERR.rawValue), callback, data(self))
    }

    /// Stops or continues to read.
    func pause(_ paused: Bool) {
        guard paused != isPaused else { return }
        isPaused = paused
        if paused {
            if readSource != 0 { g_source_remove(readSource) }
            readSource = 0
        } else {
            watch()
        }
    }

    /// Reads what has arrived. Returns whether the source stays.
    private func read() -> Bool {
        var result = 0
        let buffer = [UInt8](unsafeUninitializedCapacity: Self.readSize) { bytes, count in
            result = Glibc.read(descriptor, bytes.baseAddress, bytes.count)
            count = max(0, result)
        }
        if result <= 0 {
            if result < 0, errno == EAGAIN || errno == EINTR { return true }
            readSource = 0
            fail()
            return false
        }
        received += buffer
        guard let last = received.lastIndex(of: UInt8(ascii: "\n")) else {
            if received.count <= Self.maximumLine { return true }
            readSource = 0
            fail()
            return false
        }
        let lines = String(decoding: received[..<last], as: UTF8.self)
        received.removeSubrange(...last)
        let source = readSource
        onLines?(lines)
        // The receiver may have paused or closed the connection, which removed the source.
        return readSource == source && readSource != 0
    }

    /// Sends a line, without a line feed at its end. Returns false when too much is waiting; the connection is then closed.
    @discardableResult
    func send(_ line: String) -> Bool {
        guard descriptor >= 0 else { return false }
        guard waiting.count + line.utf8.count < Self.maximumWaiting else {
            fail()
            return false
        }
        waiting += line.utf8
        waiting.append(UInt8(ascii: "\n"))
        flush()
        return true
    }

    private func flush() {
        while !waiting.isEmpty {
            let written = waiting.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if written < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN { break }
                // The end is reported by the reading side, after the lines that arrived before it.
                waiting = []
                return
            }
            waiting.removeFirst(written)
        }
        guard !waiting.isEmpty, writeSource == 0 else { return }
        let callback: GUnixFDSourceFunc = { _, _, data in
            let connection: LineConnection = owner(data)
            return MainActor.assumeIsolated {
                connection.writeSource = 0
                connection.flush()
                return 0
            }
        }
        writeSource = g_unix_fd_add(descriptor, GIOCondition(rawValue: G_IO_OUT.rawValue | G_IO_ERR.rawValue), callback, data(self))
    }

    private func fail() {
        close()
        let report = onClosed
        onClosed = nil
        report?()
    }

    /// Ends the connection, without a report.
    func close() {
        guard descriptor >= 0 else { return }
        if readSource != 0 { g_source_remove(readSource) }
        if writeSource != 0 { g_source_remove(writeSource) }
        readSource = 0
        writeSource = 0
        Glibc.close(descriptor)
        descriptor = -1
    }
}
