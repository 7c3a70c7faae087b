internal import HemiolaSystem

/// The default browser of a desktop session, which `xdg-open` starts.
struct DesktopBrowser: Sendable {
    /// The path of `xdg-open`.
    private let opener: String

    /// - Parameter variable: Reads an environment variable.
    /// - Returns: nil without a desktop session (X11 or Wayland), or without `xdg-open` in PATH.
    init?(_ variable: (String) -> String? = EnvironmentVariable.value) {
        guard variable("DISPLAY") != nil || variable("WAYLAND_DISPLAY") != nil else { return nil }
        let candidates: [String] = (variable("PATH") ?? "").split(separator: ":").map { "\($0)/xdg-open" }
        guard let opener = candidates.first(where: FileSystem.isExecutable) else { return nil }
        self.opener = opener
    }

    /// Opens a URL, without waiting for the browser, which continues when this process ends.
    ///
    /// - Returns: Whether the shell that starts `xdg-open` was started.
    func open(_ url: String) -> Bool {
        // The shell exits at once, so that no ended process remains. The URL is an argument, never part of the script.
        let script = #""$0" "$1" >/dev/null 2>&1 &"#
        // A process group of its own: Ctrl-C does not reach the browser.
        let shell = Spawn(.path("/bin/sh"), ["-c", script, opener, url].map { Array($0.utf8) })
        guard let process = try? shell.start() else { return false }
        return ProcessExit.of(process)?.isSuccess == true
    }
}
