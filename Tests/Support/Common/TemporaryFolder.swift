import Foundation

/// A temporary folder that is removed on deinitialization.
public final class TemporaryFolder: Sendable {
    public let path: String

    public init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("hemiola-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in the folder; it need not exist.
    public func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file.
    ///
    /// - Returns: Its path.
    @discardableResult
    public func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: self(name)))
        return self(name)
    }

    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        try write(text.utf8, to: name)
    }

    public func text(of name: String) throws -> String {
        try String(contentsOfFile: self(name), encoding: .utf8)
    }

    /// The sorted names of its files and folders, including hidden ones.
    public var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
}
