public import Hemiola

extension SharedLibrary {
    package static let zstd = SharedLibrary(
        "Zstandard", soname: "libzstd.so.1", package: "libzstd1", minimumVersion: "1.4", licence: "BSD-3-Clause OR GPL-2.0-only",
        relation: .depends, use: "compressed outputs", versionSymbol: .textFunction("ZSTD_versionString"))
}

/// The value of the setting `compress`: whether a file is compressed.
public enum Compression: String, CaseIterable, Sendable {
    /// Compress if the path ends in `.zst`.
    case auto
    /// Do not compress.
    case none
    /// Compress with zstd.
    case zstd

    /// The levels of the setting `level`: 1 (fastest) to 19 (smallest). Higher levels need more memory in the reader.
    public static let levels = 1...19
    /// The default level, 3.
    public static let standardLevel = 3

    /// Whether the file at a path is compressed.
    public func isOn(for path: String) -> Bool {
        self == .zstd || self == .auto && path.hasSuffix(".zst")
    }
}

extension SettingReader {
    /// The setting `compress`, default `auto`.
    ///
    /// - Parameter summary: One sentence for the help; it depends on whether the sink writes one file or several.
    public mutating func compression(_ summary: String) -> Compression {
        choice("compress", default: Compression.auto, summary)
    }

    /// The setting `level`, default 3.
    public mutating func compressionLevel() -> Int {
        integer(
            "level", default: Compression.standardLevel, in: Compression.levels, "zstd compression level: 1 is fastest, 19 smallest.")
    }
}
