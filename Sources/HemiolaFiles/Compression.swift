public import Hemiola

extension SharedLibrary {
    package static let zstd = SharedLibrary(
        "Zstandard", soname: "libzstd.so.1", package: "libzstd1", minimumVersion: "1.4", licence: "BSD-3-Clause OR GPL-2.0-only",
        relation: .depends, use: "compressed outputs", versionSymbol: .textFunction("ZSTD_versionString"))
}

/// zstd compression of an output.
public struct Compression: Sendable, Hashable {
    /// The levels of the setting `level`: 1 (fastest) to 19 (smallest). Higher levels need more memory in the reader.
    public static let levels = 1...19
    /// The default level, 3.
    public static let standardLevel = 3

    /// The compression level, in `levels`.
    public var level: Int

    /// Creates compression at a level.
    public init(level: Int = standardLevel) {
        self.level = level
    }

    /// Whether a path requests compression: it ends in `.zst`.
    public static func isRequested(by path: String) -> Bool {
        path.hasSuffix(".zst")
    }
}

/// The value of the setting `compress`: whether a file is compressed.
public enum CompressionChoice: String, CaseIterable, Sendable {
    /// Compress if the path ends in `.zst`.
    case auto
    /// Do not compress.
    case none
    /// Compress with zstd.
    case zstd

    /// The compression of a file; nil: none.
    public func compression(of path: String, level: Int = Compression.standardLevel) -> Compression? {
        self == .zstd || self == .auto && Compression.isRequested(by: path) ? Compression(level: level) : nil
    }
}

extension SettingReader {
    /// The setting `compress`, default `auto`.
    ///
    /// - Parameter summary: One sentence for the help; it depends on whether the sink writes one file or several.
    public mutating func compressionChoice(_ summary: String) -> CompressionChoice {
        choice("compress", default: CompressionChoice.auto, summary)
    }

    /// The setting `level`, default 3.
    public mutating func compressionLevel() -> Int {
        integer(
            "level", default: Compression.standardLevel, in: Compression.levels, "zstd compression level: 1 is fastest, 19 smallest.")
    }
}

extension Problem {
    /// A sink is configured to append to a compressed file.
    ///
    /// - Parameters:
    ///   - key: The setting that requests appending.
    ///   - remedy: What to do instead, as the second half of a sentence.
    public static func cannotAddToCompressed(at key: String, _ remedy: String) -> Problem {
        Problem(
            "nothing can be added to a compressed file: readers stop at the incomplete end of an interrupted run; \(remedy)", at: .key(key))
    }
}
