/// The types of files that a capture reads. Selects the sound files among the files of a folder.
public struct FileTypes: Sendable {
    /// Selects no file.
    public static let none = FileTypes(extensions: [], signatureLength: 0, matches: { _ in false })

    /// Extensions in lower case, without a dot. A file with one of them is selected without being opened.
    public let extensions: Set<String>
    /// Extensions of frequent other files, in lower case. A file with one of them is skipped without being opened.
    public let otherExtensions: Set<String>
    /// Bytes from the beginning of a file that `matches` needs.
    public let signatureLength: Int
    /// Whether a file with another extension, or none, that begins with these bytes is selected. Given fewer bytes for a shorter file.
    public let matches: @Sendable ([UInt8]) -> Bool

    /// The types of files of a capture.
    ///
    /// - Parameters:
    ///   - extensions: Those of the files that it reads.
    ///   - otherExtensions: Those of files that it does not read.
    ///   - signatureLength: Bytes that `matches` needs.
    ///   - matches: Recognises a file by its first bytes.
    public init(
        extensions: Set<String>, otherExtensions: Set<String> = [], signatureLength: Int,
        matches: @escaping @Sendable ([UInt8]) -> Bool
    ) {
        self.extensions = extensions
        self.otherExtensions = otherExtensions
        self.signatureLength = signatureLength
        self.matches = matches
    }
}
