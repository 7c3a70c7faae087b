/// That an output is compressed with zstd, and how hard.
package struct Compression: Sendable, Hashable {
    /// What libzstd offers without asking the reader for more memory than usual.
    package static let levels = 1...19
    package static let standardLevel = 3

    package var level: Int

    package init(level: Int = standardLevel) {
        self.level = level
    }

    /// Whether a path asks for it by its name.
    package static func isAsked(by path: String) -> Bool {
        path.hasSuffix(".zst")
    }
}
