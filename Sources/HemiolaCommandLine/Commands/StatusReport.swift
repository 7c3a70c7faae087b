internal import HemiolaRecords
internal import HemiolaSignal

/// The `status` message of a running hemiola, as text for a terminal or as JSON.
struct StatusReport {
    /// The message, without its newline.
    let line: String
    private let message: JSONValue

    /// - Returns: nil for a message that is not a `status` message.
    init?(_ message: JSONValue, line: [UInt8]) {
        guard message["type"]?.string == "status" else { return nil }
        self.line = String(decoding: line, as: UTF8.self)
        self.message = message
    }

    /// The number of pages that are ready; nil if the running program, which may be older, does not report it.
    var pageCount: Int? { message["pages"]?.integer }

    /// A line for each value, without a newline at the end.
    var text: String {
        var preset = message["preset"]?.string ?? "unknown"
        if let seconds = message["next_in_s"]?.double { preset += " (next in \(Int(clamping: seconds.rounded())) s)" }
        if message["cycling"]?.flag == false { preset += " (automatic changes are off)" }
        let device = message["device"].flatMap { device in
            device["description"]?.string.map { "\($0) (\(device["state"]?.string ?? "unknown"))" }
        }
        return [
            "preset  \(preset)",
            "speed   \(message["speed"]?.double.map { "\($0)" } ?? "unknown")",
            "tempo   \(message["bpm"]?.double.map { "\($0) BPM" } ?? "unknown")",
            "device  \(device ?? message["source"]?.string ?? "none")",
            "pages   \(pageCount.map { "\($0)" } ?? "unknown")",
        ].joined(separator: "\n")
    }
}
