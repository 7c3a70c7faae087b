internal import Hemiola
internal import HemiolaPCM
internal import HemiolaSystem

/// The settings of this capture.
struct PCMSettings: Sendable {
    private static let path = Setting(
        "path", default: "-", "Pipe, FIFO or file to read; - is standard input.")

    static let declared = [path.declared] + PCMFormat.settings + [SpooledPCMReader.setting.declared]

    var path: String
    /// The format of raw samples; nil for a stream whose header declares it.
    var format: PCMFormat?
    var spools: Bool

    init(_ settings: SettingValues) throws(Problem) {
        path = settings[Self.path]
        spools = settings[SpooledPCMReader.setting]
        guard !path.isEmpty else { throw Problem("the path is empty; - is standard input", at: Self.path.key) }
        format = try PCMFormat(settings)
    }
}
