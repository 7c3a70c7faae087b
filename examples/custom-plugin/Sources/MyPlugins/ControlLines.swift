import Glibc
import Hemiola

extension ControlPlugin {
    /// Submits the controls whose names are written to a named pipe.
    public static let lines = ControlPlugin(
        PluginDescription("lines", "Reads the names of controls from a named pipe.", primary: "path"), settings: ControlLinesSettings.self,
        make: { settings in ControlLines(path: settings.path) })
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
        // A read may end in the middle of a line.
        var lines = LineSplitter(limit: 1000)
        var bytes = [UInt8](repeating: 0, count: 4096)
        while input.wait(for: pipe) {
            let count = max(0, read(pipe, &bytes, bytes.count))
            lines.append(bytes[..<count])
            while let line = lines.next() { submit(String(decoding: line.bytes, as: UTF8.self), to: input) }
        }
    }

    private func submit(_ name: String, to input: ControlInput) {
        if let type = input.context.records.catalog.control(name) {
            input.submit(Control(type))
        } else {
            input.warn("there is no control \(name)", once: "unknown")
        }
    }

    func close() { Glibc.close(pipe) }
}
