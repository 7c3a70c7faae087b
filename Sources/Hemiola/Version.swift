/// The version of Hemiola, as the header, `--version` and the changelog print it.
public enum HemiolaVersion {
    public static let current = "0.1.0"

    /// Whether this version is another one or later.
    ///
    /// - Parameter text: Three whole numbers, as `0.1.0`.
    /// - Returns: nil when the text is no version.
    package static func isAtLeast(_ text: String) -> Bool? {
        guard let wanted = numbers(text), let own = numbers(current) else { return nil }
        return !own.lexicographicallyPrecedes(wanted)
    }

    private static func numbers(_ text: String) -> [Int]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let isValid =
            parts.count == 3
            && parts.allSatisfy { part in
                (1...9).contains(part.utf8.count) && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
        return isValid ? parts.compactMap { Int($0) } : nil
    }
}
