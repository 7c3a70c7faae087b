import Foundation

/// The program that decompresses what the sink wrote.
public enum Zstd {
    /// Where it is; nil when it is not installed.
    public static let program = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/zstd" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// With `HEMIOLA_STRICT=1` a test that needs it fails where it is missing.
    public static let isExpected = program != nil || ProcessInfo.processInfo.environment["HEMIOLA_STRICT"] == "1"

    /// What a file holds, and whether the program found it whole.
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
