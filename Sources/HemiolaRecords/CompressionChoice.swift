package import Hemiola
package import HemiolaOutput

/// Whether a file is compressed.
package enum CompressionChoice: String, SettingChoice {
    case auto, none, zstd

    /// The setting `compress`, whose sentence depends on how many files there are.
    package static func setting(_ summary: String) -> Setting<CompressionChoice> {
        Setting("compress", default: .auto, summary)
    }

    /// The setting `level`.
    package static var level: Setting<Int> {
        Setting("level", default: Compression.standardLevel, in: Compression.levels, "How hard zstd tries: 1 is fastest, 19 smallest.")
    }

    /// How a file is compressed; nil: not at all.
    package func compression(of path: String, level: Int = Compression.standardLevel) -> Compression? {
        self == .zstd || self == .auto && Compression.isAsked(by: path) ? Compression(level: level) : nil
    }
}
