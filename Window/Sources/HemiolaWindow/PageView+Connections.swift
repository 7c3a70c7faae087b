import CWebKit
import CWindow
import FoundationEssentials

// The connections of the page to Hemiola, and whether it reads them.

extension PageView {
    func closeConnections() {
        for connection in connections.values { connection.line.close() }
        connections = [:]
        document = ""
    }

    func open(_ number: Int) {
        guard connections.count < Self.maximumConnections, connections[number] == nil, let host,
            let line = LineConnection(path: host.socketPath)
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
        if !isShown {
            // Samples that were sent before Hemiola has read the new subscription.
            lines = lines.split(separator: "\n").filter { !$0.hasPrefix(#"{"type":"pushSamples""#) }.joined(separator: "\n")
            if lines.isEmpty { return }
        }
        deliver("lines", "\(number)", lines)
    }

    func deliver(_ function: String, _ first: String, _ second: String) {
        if unacknowledged == 0 { waitingSince = monotonicSeconds() }
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
        waitingSince = monotonicSeconds()
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
        let seconds = monotonicSeconds() - waitingSince
        if seconds > Self.hungSeconds {
            report("the page has not responded for \(Int(Self.hungSeconds)) s; its web process is ended")
            webkit_web_view_terminate_web_process(view)
        } else if seconds > Self.slowSeconds, !isSlow {
            isSlow = true
            report("the page does not respond")
        }
    }
}
