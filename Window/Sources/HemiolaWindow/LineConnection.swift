import CWebKit
import HemiolaSystem

/// A connection to Hemiola's Unix socket: lines in both directions, on the main loop.
///
/// While it is paused nothing is read, so that Hemiola drops batches for this client instead of the window storing them.
final class LineConnection {
    /// Longest line that is received, in bytes.
    private static let maximumLine = 2 << 20
    /// Bytes that can wait until Hemiola reads them.
    private static let maximumWaiting = 4 << 20
    /// Bytes that are read before other sources of the main loop run.
    private static let readSize = 256 << 10

    /// Called with complete lines, separated by line feeds.
    var onLines: ((String) -> Void)?
    /// Called once when the connection ends other than by `close()`.
    var onClosed: (() -> Void)?

    private let socket: FileDescriptor
    private var isOpen = true
    private var readSource: guint = 0
    private var writeSource: guint = 0
    private var received: [UInt8] = []
    private var waiting: [UInt8] = []
    private var isPaused = false

    /// Connects.
    ///
    /// - Throws: Nothing listens at the path; `notPermitted` where another user could, at the default path.
    init(_ location: SocketPath) throws(SystemCallError) {
        if location.origin != .named, FileSystem.exists(location.folder), (try? location.checkFolder()) == nil {
            throw SystemCallError(.notPermitted)
        }
        socket = try UnixAddress.connect(to: location.path)
        if location.origin != .named, !isServerTrusted {
            socket.close()
            throw SystemCallError(.notPermitted)
        }
        watch()
    }

    /// Whether the program that listens is of this user, or root's.
    var isServerTrusted: Bool { PeerCredentials.of(socket).map { TrustedPath.isTrusted($0.user) } == true }

    /// Whether a window, this one or another, has started the program that listens.
    var serverIsOfWindow: Bool {
        func file(_ name: String, of process: Int32) -> String? {
            (try? FileSystem.bytes(of: "/proc/\(process)/\(name)", count: 4096)).map { String(decoding: $0, as: UTF8.self) }
        }
        // The parent is the second field after the name, which is in parentheses and can itself contain one.
        guard let server = PeerCredentials.of(socket), let status = file("stat", of: server.process),
            let fields = status.split(separator: ")").last?.split(separator: " "), fields.count > 1, let parent = Int32(fields[1]),
            let name = file("comm", of: parent)
        else { return false }
        return name == file("comm", of: CurrentProcess.identifier)
    }

    private func watch() {
        guard readSource == 0, isOpen, !isPaused else { return }
        let condition = GIOCondition(rawValue: G_IO_IN.rawValue | G_IO_HUP.rawValue | G_IO_ERR.rawValue)
        readSource = HemiolaWindow.watch(socket, condition) { [unowned self] in read() }
    }

    /// Stops or continues to read.
    func pause(_ paused: Bool) {
        guard paused != isPaused else { return }
        isPaused = paused
        if !paused { return watch() }
        if readSource != 0 { g_source_remove(readSource) }
        readSource = 0
    }

    /// Reads what has arrived. Returns whether the source stays.
    private func read() -> Bool {
        do throws(SystemCallError) {
            let bytes = try socket.read(atMost: Self.readSize)
            received += bytes
            let last = received.lastIndex(of: UInt8(ascii: "\n"))
            guard !bytes.isEmpty, last != nil || received.count <= Self.maximumLine else { throw SystemCallError(.brokenPipe) }
            guard let last else { return true }
            let lines = String(decoding: received[..<last], as: UTF8.self)
            received.removeSubrange(...last)
            let source = readSource
            onLines?(lines)
            // The receiver may have paused or closed the connection, which removed the source.
            return readSource == source && readSource != 0
        } catch {
            if error.code == .wouldBlock { return true }
            readSource = 0
            fail()
            return false
        }
    }

    /// Sends a line, without a line feed at its end. When too much is waiting, the connection ends.
    func send(_ line: String) {
        guard isOpen else { return }
        guard waiting.count + line.utf8.count < Self.maximumWaiting else { return fail() }
        waiting += line.utf8
        waiting.append(UInt8(ascii: "\n"))
        flush()
    }

    private func flush() {
        do {
            while !waiting.isEmpty {
                let count = try waiting.span.bytes.withUnsafeBytes { bytes throws(SystemCallError) in try socket.write(bytes) }
                waiting.removeFirst(count)
            }
        } catch {
            // The end is reported by the reading side, after the lines that arrived before it.
            if error.code != .wouldBlock { waiting = [] }
        }
        guard !waiting.isEmpty, writeSource == 0 else { return }
        writeSource = HemiolaWindow.watch(socket, GIOCondition(rawValue: G_IO_OUT.rawValue | G_IO_ERR.rawValue)) { [unowned self] in
            writeSource = 0
            flush()
            return false
        }
    }

    private func fail() {
        close()
        let report = onClosed
        onClosed = nil
        report?()
    }

    /// Ends the connection, without a report.
    func close() {
        guard isOpen else { return }
        isOpen = false
        for source in [readSource, writeSource] where source != 0 { g_source_remove(source) }
        (readSource, writeSource) = (0, 0)
        socket.close()
    }
}
