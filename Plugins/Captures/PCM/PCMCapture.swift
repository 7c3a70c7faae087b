public import Hemiola
internal import HemiolaPCM
internal import HemiolaSystem

extension CapturePlugin {
    /// Reads a stream of samples with a header, such as WAV, or raw samples from standard input, a pipe, a FIFO or a file.
    public static let pcm = CapturePlugin(
        "pcm", "Reads WAV, AIFF, AU, CAF or raw samples from standard input, a pipe or a FIFO.",
        settings: PCMSettings.declared, primary: "path"
    ) { settings throws(Problem) in
        let settings = try PCMSettings(settings)
        return settings.spools ? SpooledPCMReader(settings) : PCMReader(settings)
    }
}

extension PCMReader {
    /// - Parameter descriptor: Is read instead of the path.
    convenience init(_ settings: PCMSettings, descriptor: Int32? = nil) {
        let number = descriptor ?? (settings.path == "-" ? 0 : nil)
        self.init(
            number.map(Input.descriptor) ?? .path(settings.path), name: settings.path == "-" ? "standard input" : settings.path,
            format: settings.format)
    }
}
