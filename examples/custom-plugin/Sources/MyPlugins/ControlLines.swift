import Glibc
import Hemiola

extension SinkPlugin {
    /// Submits the controls whose names are written to a named pipe.
    public static let controlLines = SinkPlugin(
        "control-lines", "Reads the names of controls from a named pipe.", settings: ControlLinesSettings.self, primary: "path",
        makeSource: { settings in ControlLines(path: settings.path) })
}

struct ControlLinesSettings: PluginSettings {
    var path: String

    init(_ read: inout SettingReader) {
        path = read.text("path", default: "/tmp/controls", "The named pipe.")
    }
}

final class ControlLines: ControlSource {
    private let path: String
    private var pipe: Int32 = -1
    init(path: String) { self.path = path }

    func open(_ input: ControlInput) throws(Problem) {
        // A pipe that is also open for writing does not end when its writers do.
        pipe = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard pipe >= 0 else { throw Problem("\(path): \(String(cString: strerror(errno))); make it: mkfifo \(path)") }
    }

    func run(_ input: ControlInput) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while input.wait(for: pipe) {
            let count = max(0, read(pipe, &bytes, bytes.count))
            for name in String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n") {
                if let type = input.context.catalog.control(String(name)) {
                    input.submit(Control(type))
                } else {
                    input.warn("there is no control \(name)", once: "unknown")
                }
            }
        }
    }

    func close() { Glibc.close(pipe) }
}
