import Foundation

/// A tab of a browser.
///
/// Use from one thread. All calls block it, each with a time limit. The tab is closed on deinitialization.
public final class BrowserPage {
    let browser: Browser?
    private let connection: BrowserConnection
    private let target: String
    private let session: String
    private let log = Log()

    /// What happened in the page.
    private final class Log {
        /// Messages of the console with a level of at least "warning", and uncaught exceptions.
        var messages: [String] = []
        /// The number of load events.
        var loads = 0
    }

    /// Opens an empty tab.
    ///
    /// The tab has a window of its own, because a tab that another one covers draws nothing.
    ///
    /// - Parameter browser: It is not stopped before this object is deinitialized.
    init(browser: Browser?, _ connection: BrowserConnection) throws {
        self.browser = browser
        self.connection = connection
        let created = try connection.call("Target.createTarget", ["url": Browser.blank, "newWindow": true])
        guard let target = created["targetId"] as? String else { throw Browser.Failure(description: "no tab: \(created)") }
        let attached = try connection.call("Target.attachToTarget", ["targetId": target, "flatten": true])
        guard let session = attached["sessionId"] as? String else { throw Browser.Failure(description: "no session: \(attached)") }
        self.target = target
        self.session = session
        connection.handle(session) { [log] event, parameters in Self.handle(event, parameters, log) }
        for domain in ["Page", "Runtime", "Log", "Performance"] { try call("\(domain).enable") }
    }

    deinit {
        connection.handle(session, nil)
        _ = try? connection.call("Target.closeTarget", ["targetId": target], timeout: 5)
    }

    /// Calls a method of the DevTools protocol for this tab.
    @discardableResult
    public func call(_ method: String, _ parameters: [String: Any] = [:], timeout seconds: Double = 60) throws -> [String: Any] {
        try connection.call(method, parameters, session: session, timeout: seconds)
    }

    /// The warnings and errors of the console, and the uncaught exceptions, since the tab was opened.
    public var messages: [String] { log.messages }

    private static func handle(_ event: String, _ parameters: [String: Any], _ log: Log) {
        switch event {
        case "Page.loadEventFired": log.loads += 1
        case "Runtime.exceptionThrown":
            log.messages.append("exception: " + description(ofException: parameters["exceptionDetails"] as? [String: Any] ?? [:]))
        case "Runtime.consoleAPICalled":
            guard let level = parameters["type"] as? String, ["warning", "error", "assert"].contains(level) else { return }
            let values = (parameters["args"] as? [[String: Any]] ?? []).map { "\($0["value"] ?? $0["description"] ?? "")" }
            log.messages.append("\(level): " + values.joined(separator: " "))
        case "Log.entryAdded":
            guard let entry = parameters["entry"] as? [String: Any], let level = entry["level"] as? String,
                ["warning", "error"].contains(level)
            else { return }
            log.messages.append("\(level): \(entry["text"] ?? "") \(entry["url"] ?? "")")
        default: break
        }
    }

    private static func description(ofException details: [String: Any]) -> String {
        let exception = details["exception"] as? [String: Any] ?? [:]
        return "\(exception["description"] ?? exception["value"] ?? details["text"] ?? "unknown")"
    }
}

// MARK: - Navigation

extension BrowserPage {
    /// Loads a page.
    ///
    /// - Parameter waits: Whether the call returns only after the load event.
    public func load(_ url: String, waits: Bool = true, timeout seconds: Double = 60) throws {
        let loads = log.loads
        let result = try call("Page.navigate", ["url": url], timeout: seconds)
        if let error = result["errorText"] as? String { throw Browser.Failure(description: "\(url): \(error)") }
        if waits { try waitForLoad(after: loads, seconds) }
    }

    /// Loads the page again and waits for the load event.
    public func reload(timeout seconds: Double = 60) throws {
        let loads = log.loads
        try call("Page.reload")
        try waitForLoad(after: loads, seconds)
    }

    /// Adds a script that runs before the scripts of each page that is loaded from now on.
    public func addScript(_ script: String) throws {
        try call("Page.addScriptToEvaluateOnNewDocument", ["source": script])
    }

    private func waitForLoad(after loads: Int, _ seconds: Double) throws {
        guard try connection.wait(seconds, until: { log.loads > loads }) else {
            throw Browser.Failure(description: "the page did not load in \(seconds) s; messages: \(messages)")
        }
    }
}

// MARK: - Scripts

extension BrowserPage {
    /// Evaluates an expression in the page and waits for its value, or that of the promise.
    ///
    /// - Parameters:
    ///   - isGesture: Whether the browser treats it as an action of the user.
    ///   - seconds: The time limit.
    /// - Returns: The value as JSON: null for `undefined`.
    public func evaluate<Value: Decodable>(
        _ expression: String, as type: Value.Type = Value.self, isGesture: Bool = false, timeout seconds: Double = 60
    ) throws -> Value {
        let json = try result(of: "(async () => JSON.stringify(await (\(expression))) ?? 'null')()", isGesture, seconds)
        return try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    /// Runs statements in the page, which may contain `await`.
    public func run(_ statements: String, isGesture: Bool = false, timeout seconds: Double = 60) throws {
        _ = try result(of: "(async () => { \(statements)\n; return ''; })()", isGesture, seconds)
    }

    /// Evaluates a script as a `<script>` element does: its declarations are global.
    public func runScript(_ script: String) throws {
        let result = try call("Runtime.evaluate", ["expression": script])
        if let details = result["exceptionDetails"] as? [String: Any] {
            throw Browser.Failure(description: Self.description(ofException: details))
        }
    }

    /// Waits until an expression is true.
    ///
    /// - Parameter seconds: The time limit; generous, because a machine may be busy.
    public func wait(_ seconds: Double = 60, for expression: String) throws {
        let end = ProcessInfo.processInfo.systemUptime + seconds * Sanitizer.slowness
        var last = "no result"
        while ProcessInfo.processInfo.systemUptime < end {
            // A page that is being replaced has no context to evaluate in.
            do {
                if try evaluate("!!(\(expression))", as: Bool.self, timeout: max(1, end - ProcessInfo.processInfo.systemUptime)) { return }
                last = "false"
            } catch { last = "\(error)" }
            usleep(20_000)
        }
        throw Browser.Failure(description: "timeout after \(seconds) s while waiting for \(expression): \(last); messages: \(messages)")
    }

    private func result(of expression: String, _ isGesture: Bool, _ seconds: Double) throws -> String {
        let parameters: [String: Any] = [
            "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": isGesture,
        ]
        let result = try call("Runtime.evaluate", parameters, timeout: seconds)
        if let details = result["exceptionDetails"] as? [String: Any] {
            throw Browser.Failure(description: Self.description(ofException: details))
        }
        return (result["result"] as? [String: Any])?["value"] as? String ?? "null"
    }
}

// MARK: - Emulation and time

extension BrowserPage {
    /// Sets the viewport.
    ///
    /// - Parameters:
    ///   - width: In CSS pixels.
    ///   - height: In CSS pixels.
    ///   - isPhone: Whether the page is displayed as on a phone, with touch events.
    public func setSize(_ width: Int, _ height: Int, pixelRatio: Double = 1, isPhone: Bool = false) throws {
        try call(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": pixelRatio, "mobile": isPhone])
        try call("Emulation.setTouchEmulationEnabled", ["enabled": isPhone])
    }

    /// Minimizes the window of the tab, or restores it: a hidden page draws nothing, and its timers are slow.
    public func setHidden(_ isHidden: Bool) throws {
        guard let window = try connection.call("Browser.getWindowForTarget", ["targetId": target])["windowId"] else {
            throw Browser.Failure(description: "the tab has no window")
        }
        let bounds = ["windowState": isHidden ? "minimized" : "normal"]
        try connection.call("Browser.setWindowBounds", ["windowId": window, "bounds": bounds])
        try wait(for: "document.hidden == \(isHidden)")
    }

    /// Sets media features, such as `["prefers-reduced-motion": "reduce", "prefers-color-scheme": "dark"]`.
    public func setMedia(_ features: [String: String]) throws {
        let list = features.sorted { $0.key < $1.key }.map { ["name": $0.key, "value": $0.value] }
        try call("Emulation.setEmulatedMedia", ["features": list])
    }

    /// The time of the monotonic clock, CLOCK_MONOTONIC, at which `performance.now()` is 0, in seconds.
    public var timeOrigin: Double {
        get throws {
            let metrics = try call("Performance.getMetrics")["metrics"] as? [[String: Any]] ?? []
            let value = metrics.first { $0["name"] as? String == "NavigationStart" }?["value"] as? Double
            guard let value, value > 0 else { throw Browser.Failure(description: "no navigation start in \(metrics)") }
            return value
        }
    }
}
