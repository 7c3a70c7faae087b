internal import Hemiola

extension CapturePlugin {
    /// A file of which only the fault is known: a link in a folder that leads to no file, or a folder that cannot be read. It fails as any
    /// other input, and does not end the run.
    static let unreadable = CapturePlugin(
        PluginDescription(unreadableID, "Fails with a message.", primary: "path"), settings: UnreadableSettings.self
    ) { settings throws(Problem) in UnreadableInput(message: "\(PathText.shown(settings.path).onOneLine): \(settings.message)") }

    static let unreadableID = "unreadable"
}

struct UnreadableSettings: PluginSettings {
    var path: String
    var message: String

    init(_ read: inout SettingReader) {
        path = read.text("path", default: "", "The path.")
        message = read.text("message", default: "", "Why it cannot be read, and what to do.")
    }
}

private final class UnreadableInput: Capture {
    private let message: String

    init(message: String) {
        self.message = message
    }

    var isLive: Bool { false }

    func open(_ request: FormatRequest) throws(Problem) -> StreamSource { throw Problem(message) }
    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult { .end }
    func close() {}
}
