public import Hemiola
internal import HemiolaPCM

extension CapturePlugin {
    /// Reads a stream of samples with a header, such as WAV, or raw samples from standard input, a pipe, a FIFO or a file.
    public static let pcm = CapturePlugin(
        PluginDescription("pcm", "Reads WAV, AIFF, AU, CAF or raw samples from standard input, a pipe or a FIFO.", primary: "path"),
        settings: PCMSettings.self
    ) { settings throws(Problem) in
        try settings.spools ? SpooledPCMReader(settings) : PCMReader(settings)
    }
}

/// The settings of this capture.
struct PCMSettings: PluginSettings {
    var path: String
    var raw: RawFormatSettings
    var spools: Bool

    init(_ read: inout SettingReader) {
        path = read.text("path", default: "-", "Pipe, FIFO or file to read; - is standard input.")
        raw = RawFormatSettings(&read)
        spools = read.spool()
    }
}

extension PCMReader {
    /// - Parameter descriptor: Is read instead of the path.
    convenience init(_ settings: PCMSettings, descriptor: Int32? = nil) throws(Problem) {
        guard !settings.path.isEmpty else { throw Problem("the path is empty; - is standard input", at: "path") }
        let number = descriptor ?? (settings.path == "-" ? 0 : nil)
        try self.init(
            number.map(Input.descriptor) ?? .path(settings.path), name: settings.path == "-" ? "standard input" : settings.path,
            format: settings.raw.format())
    }
}
