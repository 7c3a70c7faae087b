import CWebKit
import FoundationEssentials
import HemiolaSystem
import WindowCore

// The connections of the page to Hemiola, and whether it reads them.

extension PageView {
    func closeConnections() {
        for connection in connections.values { connection.line.close() }
        connections = [:]
        document = ""
    }

    func open(_ number: Int) {
        // Without a source, the document is one whose page could not be loaded again: it runs on, and is not shown.
        guard source != nil, connections.count < Self.maximumConnections, connections[number] == nil, let host,
            let line = try? LineConnection(host.socketPath)
        else { return deliver("closed", "\(number)", "") }
        line.onLines = { [unowned self] lines in received(lines, number) }
        line.onClosed = { [unowned self] in
            connections[number] = nil
            deliver("closed", "\(number)", "")
        }
        connections[number] = Connection(line: line)
        // Before anything of the page: a page must not be able to open files of the user as tabs.
        line.send(#"{"type":"pageConnection"}"#)
        deliver("opened", "\(number)", "")
    }

    func received(_ lines: String, _ number: Int) {
        var lines = lines
        let importStart = #"{"type":"import","#
        // Most lines are samples: their bytes are scanned, which is faster than characters.
        if lines.utf8.split(separator: UInt8(ascii: "\n")).contains(where: { $0.starts(with: importStart.utf8) }) {
            lines = lines.split(separator: "\n").compactMap { $0.hasPrefix(importStart) ? withFile($0, number) : String($0) }
                .joined(separator: "\n")
        }
        if !isShown {
            // Samples that were sent before Hemiola has read the new subscription.
            lines = lines.split(separator: "\n").filter { !$0.hasPrefix(#"{"type":"pushSamples""#) }.joined(separator: "\n")
        }
        if lines.isEmpty { return }
        deliver("lines", "\(number)", lines)
    }

    /// The message that lets the page import a file, with its bytes in place of the path: a page cannot open paths, and its policy may
    /// forbid it to fetch.
    ///
    /// - Returns: nil: the file cannot be read, and Hemiola has got the reason in place of the page's answer.
    private func withFile(_ text: Substring, _ number: Int) -> String? {
        guard var message = try? JSONDecoder().decode(Import.self, from: Data(text.utf8)), let path = message.path,
            let line = connections[number]?.line
        else { return nil }
        do throws(Problem) {
            // Else another user would read this user's files with a page of his own.
            guard line.isServerTrusted else { throw Problem("a window imports files for the Hemiola of its own user only") }
            let base64 = try PageSource.importedFile(path)
            message.path = nil
            // Base64 has no character that JSON escapes, and an encoder would look for one in megabytes.
            let start = String(decoding: (try? JSONEncoder().encode(message)) ?? Data(), as: UTF8.self).dropLast()
            return #"\#(start),"base64":"\#(base64)"}"#
        } catch {
            line.send(WindowRequest.failure(call: message.call, error.message))
            return nil
        }
    }

    private nonisolated struct Import: Codable {
        var type: String
        var call: Int
        var name: String
        var path: String?
    }

    func deliver(_ function: String, _ first: String, _ second: String) {
        if unacknowledged == 0 { waitingSince = MonotonicTime.now }
        unacknowledged += 1
        updatePause()
        let process = process
        run(function, first, second) { [weak self] in
            guard let self, process == self.process else { return }
            acknowledged()
        }
    }

    func acknowledged() {
        unacknowledged -= 1
        waitingSince = MonotonicTime.now
        if isSlow {
            isSlow = false
            report("the page responds again")
        }
        updatePause()
    }

    func updatePause() {
        let paused = unacknowledged >= Self.maximumUnacknowledged
        for connection in connections.values { connection.line.pause(paused) }
    }

    /// Called once per second: checks whether the page responds, and gives a reload of the page its last preset and speed.
    func watch() {
        if isScriptOutdated { updateScripts() }
        guard unacknowledged > 0, host?.inspects == false, message == nil else { return }
        let seconds = MonotonicTime.now - waitingSince
        if seconds > Self.hungSeconds {
            report("the page has not responded for \(Int(Self.hungSeconds)) s; its web process is ended")
            webkit_web_view_terminate_web_process(view)
        } else if seconds > Self.slowSeconds, !isSlow {
            isSlow = true
            report("the page does not respond")
        }
    }
}
