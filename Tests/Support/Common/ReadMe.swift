import Foundation
public import Hemiola

/// A plugin's README: its table of settings, its examples and its sample records.
public struct ReadMe: Sendable {
    public let text: String

    /// - Parameter folder: Relative to the package: `Plugins/Analyzers/Levels`.
    public init(_ folder: String) throws {
        text = try String(contentsOf: Repository.root.appending(path: folder).appending(path: "README.md"), encoding: .utf8)
    }

    public var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// The text of the code blocks in a language, each with its last line feed.
    public func samples(_ language: String) -> [String] {
        text.split(separator: "```\(language)\n", omittingEmptySubsequences: false).dropFirst().map { rest in
            String(rest[..<(rest.firstRange(of: "```")?.lowerBound ?? rest.endIndex)])
        }
    }

    /// The words that are SPECs of a plugin: `tone:sweep,seconds=3`.
    public func specs(of id: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("\(id):") }.map(String.init)
    }

    /// The lines that are records.
    public func records() throws -> [[String: Any]] {
        try lines.filter { $0.hasPrefix("{") }.map { line in
            guard let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
                throw CocoaError(.propertyListReadCorrupt)
            }
            return record
        }
    }

    /// The settings whose row in the table is missing or differs from their default and summary.
    public func settings(notQuotedFrom plugin: PluginDescription) -> [String] {
        plugin.settings.filter { setting in
            let value = setting.defaultValue.text.isEmpty ? "unset" : "`\(setting.defaultValue.text)`"
            return !lines.contains("| `\(setting.key)` | \(value) | \(setting.summary) |")
        }.map(\.key)
    }
}
