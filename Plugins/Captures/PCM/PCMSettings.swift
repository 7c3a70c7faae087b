internal import Hemiola
internal import HemiolaPCM

/// The settings of this capture.
struct PCMSettings: Sendable {
    private static let path = Setting(
        "path", default: "-", "Pipe, FIFO or file to read; - is standard input.")
    private static let spool = Setting(
        "spool", default: false, "Store the stream in an unlinked file in $TMPDIR, so that it can be read twice.")

    static let declared = [path.declared] + PCMFormat.settings + [spool.declared]

    var path: String
    /// The format of raw samples; nil for a WAV stream, which declares its own.
    var format: PCMFormat?
    var spools: Bool

    init(_ settings: SettingValues) throws(ConfigurationError) {
        path = settings[Self.path]
        spools = settings[Self.spool]
        guard !path.isEmpty else { throw ConfigurationError("the path is empty; - is standard input", at: Self.path.key) }
        format = try PCMFormat(settings)
    }
}
