internal import Hemiola
internal import HemiolaBridge

/// A headless Chromium that draws one page, picture by picture: it draws only when it is told to. It is controlled by the Chrome DevTools
/// Protocol over two pipes, and has a profile of its own, which goes with it. It reaches no network: all that the page requests is served here.
final class Chromium {
    /// What a page is drawn on.
    struct Screen {
        /// In pixels of the picture.
        var width: Int
        var height: Int
        /// Pixels of the picture in a pixel of CSS.
        var scale: Double
        var isTransparent: Bool
        /// Whether pictures are PNG files, which take longer; else JPEG.
        var isLossless: Bool

        /// In pixels of CSS.
        var pageWidth: Int { Int((Double(width) / scale).rounded()) }
        var pageHeight: Int { Int((Double(height) / scale).rounded()) }
    }

    /// Answers a request of the page for an absolute path of its address.
    typealias Serve = (_ target: String) -> FilmPage.File

    /// Names of the program, in the order in which they are looked for.
    private static let names = ["chromium-headless-shell", "chrome-headless-shell", "headless_shell"]
    /// Seconds for the program to start.
    private static let startLimit = 60.0
    /// The profile goes with the browser, also when the group is told to end. The pipes are its descriptors 3 and 4.
    private static let script = #"""
        trap : TERM INT HUP
        profile=$(mktemp -d "${TMPDIR:-/tmp}/hemiola-film.XXXXXX") || exit
        "$0" --user-data-dir="$profile" "$@" 3<&0 4>&1 </dev/null >&2
        status=$?
        rm -rf "$profile"
        exit $status
        """#
    /// It draws in software, so that the pictures depend on its version only, and not on the computer.
    private static let options = [
        "--headless", "--remote-debugging-pipe", "--enable-begin-frame-control", "--run-all-compositor-stages-before-draw",
        "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--force-color-profile=srgb", "--font-render-hinting=none",
        "--hide-scrollbars", "--mute-audio", "--no-first-run", "--disable-background-networking", "--disable-component-update",
        "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND",
    ]

    private let program: RunningProgram
    private let serve: Serve
    private let screen: Screen
    private var messages = LineSplitter(limit: 1 << 28, separator: 0)
    private var lastCall = 0
    private var session: String?
    /// The object of film.js.
    private var film = ""
    /// The time of the last picture by the browser's clock, in ms. It has to grow; only the page's own clock counts.
    private var frameTime = 1000.0

    /// Starts the browser, without a page.
    init(_ screen: Screen, serve: @escaping Serve) throws(Problem) {
        self.screen = screen
        self.serve = serve
        guard let path = Program.path(ofAny: Self.names) else {
            throw Problem("a film needs a headless Chromium; install it (Debian: chromium-headless-shell)")
        }
        // Chromium refuses to run as root with its sandbox, as in a container.
        let options =
            Self.options + ["--force-device-scale-factor=\(screen.scale)"] + (CurrentProcess.user == 0 ? ["--no-sandbox"] : [])
            + ["about:blank"]
        do {
            program = try RunningProgram(
                .arguments(["/bin/sh", "-c", Self.script, path] + options), hasInput: true, output: .pipe, report: { _ in })
        } catch {
            throw Problem("\(path): cannot be started: \(error)")
        }
        let (width, height) = (JSONValue.integer(screen.pageWidth), JSONValue.integer(screen.pageHeight))
        let target = try call(
            "Target.createTarget",
            [
                .init("url", .text("about:blank")), .init("enableBeginFrameControl", .boolean(true)), .init("width", width),
                .init("height", height),
            ], within: Self.startLimit)
        let identifier = target["targetId"]?.string ?? ""
        session = try call(
            "Target.attachToTarget", [.init("targetId", .text(identifier)), .init("flatten", .boolean(true))], within: Self.startLimit)[
                "sessionId"]?.string
    }

    deinit {
        program.end(within: 5)
    }

    /// Loads a page.
    ///
    /// - Parameters:
    ///   - script: The function film.js, with which each document begins.
    ///   - seed: That of the page's random numbers.
    ///   - time: The time of the film, in seconds.
    func load(_ address: String, script: String, seed: Int, at time: Double, within seconds: Double) throws(Problem) {
        try call("Page.enable", within: seconds)
        try call("Inspector.enable", within: seconds)
        try call("Fetch.enable", [.init("patterns", .list([.object([.init("urlPattern", .text("*"))])]))], within: seconds)
        // Before the page's own scripts, which may run at once.
        let source = "\(script)(\(seed), \(time * 1000))"
        try call("Page.addScriptToEvaluateOnNewDocument", [.init("source", .text(source))], within: seconds)
        try call(
            "Emulation.setDeviceMetricsOverride",
            [
                .init("width", .integer(screen.pageWidth)), .init("height", .integer(screen.pageHeight)),
                .init("deviceScaleFactor", .number(screen.scale)), .init("mobile", .boolean(false)),
            ], within: seconds)
        if screen.isTransparent {
            let color = JSONValue.object(["r", "g", "b", "a"].map { .init($0, .integer(0)) })
            try call("Emulation.setDefaultBackgroundColorOverride", [.init("color", color)], within: seconds)
        }
        try call("Page.navigate", [.init("url", .text(address))], within: seconds)
        let object = try call("Runtime.evaluate", [.init("expression", .text("hemiolaFilm"))], within: seconds)["result"]
        guard let film = object?["objectId"]?.string else { throw Problem("the page cannot be loaded") }
        self.film = film
    }

    /// Takes the page to a time of the film, in seconds, with the messages on the way.
    ///
    /// - Returns: What the page has sent: a list of values for each message.
    func step(to time: Double, _ messages: [FilmPage.Message], within seconds: Double) throws(Problem) -> [JSONValue] {
        let list = messages.map { JSONValue.list([.number($0.time * 1000), .integer($0.connection), .text($0.line)]) }
        return try callFilm("step", [.number(time * 1000), .list(list)], within: seconds)["value"]?.elements ?? []
    }

    /// Draws the page as it is.
    ///
    /// - Parameter interval: Seconds between two pictures.
    /// - Returns: The bytes of a PNG or JPEG file.
    func picture(interval: Double, within seconds: Double) throws(Problem) -> [UInt8] {
        let format: [JSONValue.Member] =
            screen.isLossless ? [.init("format", .text("png"))] : [.init("format", .text("jpeg")), .init("quality", .integer(95))]
        let options = JSONValue.object(format + [.init("optimizeForSpeed", .boolean(true))])
        // A page that has not drawn anything yet has no picture.
        for _ in 0..<3 {
            frameTime += interval * 1000
            let answer = try call(
                "HeadlessExperimental.beginFrame",
                [.init("frameTimeTicks", .number(frameTime)), .init("interval", .number(interval * 1000)), .init("screenshot", options)],
                within: seconds)
            if let text = answer["screenshotData"]?.string, let bytes = [UInt8](base64: text), !bytes.isEmpty { return bytes }
        }
        throw Problem("the page draws no picture")
    }

    @discardableResult
    private func callFilm(_ function: String, _ arguments: [JSONValue], within seconds: Double) throws(Problem) -> JSONValue {
        let answer = try call(
            "Runtime.callFunctionOn",
            [
                .init("functionDeclaration", .text("function (...values) { return this.\(function)(...values); }")),
                .init("objectId", .text(film)), .init("arguments", .list(arguments.map { .object([.init("value", $0)]) })),
                .init("awaitPromise", .boolean(true)), .init("returnByValue", .boolean(true)),
            ], within: seconds)
        if let fault = answer["exceptionDetails"] {
            throw Problem("the page has failed: \((fault["exception"]?["description"]?.string ?? "").onOneLine)")
        }
        return answer["result"] ?? .null
    }

    // MARK: - Protocol

    /// Calls a method and serves requests of the page meanwhile.
    @discardableResult
    private func call(_ method: String, _ parameters: [JSONValue.Member] = [], within seconds: Double) throws(Problem) -> JSONValue {
        let number = try send(method, parameters)
        let deadline = Deadline(after: seconds)
        while true {
            while let line = messages.next() {
                guard let message = try? JSONValue(message: line.bytes) else { throw Problem("Chromium has answered what is no JSON") }
                if message["id"]?.integer == number {
                    guard let fault = message["error"]?["message"]?.string else { return message["result"] ?? .null }
                    throw Problem("Chromium cannot draw the page: \(method): \(fault)")
                }
                try handle(message)
            }
            guard let bytes = program.read(within: deadline.rest) else {
                _ = program.waitForExit(within: 1)
                throw Problem("Chromium \(program.reasonForEnd)")
            }
            guard !bytes.isEmpty else { throw Problem("the page has not finished a picture within \(Int(seconds.rounded(.up))) s") }
            messages.append(bytes)
        }
    }

    private func send(_ method: String, _ parameters: [JSONValue.Member]) throws(Problem) -> Int {
        lastCall += 1
        var message: [JSONValue.Member] = [
            .init("id", .integer(lastCall)), .init("method", .text(method)), .init("params", .object(parameters)),
        ]
        if let session { message.append(.init("sessionId", .text(session))) }
        guard program.write(Array(JSONValue.object(message).line.utf8) + [0], within: Self.startLimit) else {
            throw Problem("Chromium \(program.reasonForEnd)")
        }
        return lastCall
    }

    private func handle(_ event: JSONValue) throws(Problem) {
        switch event["method"]?.string {
        case "Fetch.requestPaused": try answer(event["params"] ?? .null)
        case "Inspector.targetCrashed": throw Problem("the page has crashed, usually because it needs more memory than there is")
        default: break
        }
    }

    /// Answers a request: nothing is reached but the files of the page.
    private func answer(_ request: JSONValue) throws(Problem) {
        let identifier = JSONValue.Member("requestId", request["requestId"] ?? .null)
        let origin = "http://\(FilmPage.host)"
        guard let address = request["request"]?["url"]?.string, address.hasPrefix("\(origin)/") else {
            _ = try send("Fetch.failRequest", [identifier, .init("errorReason", .text("BlockedByClient"))])
            return
        }
        let file = serve(String(address.dropFirst(origin.count)))
        let headers = file.headers.map { JSONValue.object([.init("name", .text($0.name)), .init("value", .text($0.value))]) }
        _ = try send(
            "Fetch.fulfillRequest",
            [
                identifier, .init("responseCode", .integer(file.status)), .init("responseHeaders", .list(headers)),
                .init("body", .text(file.bytes.base64)),
            ])
    }
}

/// The programs that make a film.
enum Program {
    /// The path of the first of these programs that is in `$PATH`; nil: none is.
    static func path(ofAny names: [String]) -> String? {
        let folders = (EnvironmentVariable.value("PATH") ?? "").split(separator: ":")
        return names.lazy.flatMap { name in folders.map { "\($0)/\(name)" } }.first(where: FileSystem.isExecutable)
    }
}
