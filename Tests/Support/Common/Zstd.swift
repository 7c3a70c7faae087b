import Foundation

/// The program zstd, which decompresses the output of a sink.
public enum Zstd {
    /// Its path; nil when it is not installed.
    public static let program = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/zstd" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Whether tests that require it run. With `CI=true` they run and fail without it.
    public static let isExpected = program != nil || ProcessInfo.processInfo.environment["CI"] == "true"

    /// The decompressed text of a file, and whether zstd reported it as complete.
    public static func read(_ path: String) throws -> (text: String, isWhole: Bool) {
        struct Missing: Error, CustomStringConvertible {
            let description = "zstd is not installed"
        }
        guard let program else { throw Missing() }
        let process = Process()
        let output = Foundation.Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-dcq", path]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (String(decoding: bytes, as: UTF8.self), process.terminationStatus == 0)
    }
}
