internal import FoundationEssentials
internal import HemiolaSignal

/// The `status` message of a running hemiola, as text for a terminal or as JSON.
struct StatusReport {
    private struct Fields: Decodable {
        struct Device: Decodable {
            var description: String
            var state: String
        }

        var type: String
        var preset: String?
        var speed: Double?
        var cycling: Bool?
        var nextIn: Double?
        var bpm: Double?
        var source: String?
        var device: Device?
        /// Unknown if the running program is older.
        var pages: Int?

        enum CodingKeys: String, CodingKey {
            case type, preset, speed, cycling, bpm, source, device, pages
            case nextIn = "next_in_s"
        }
    }

    /// The message, without its newline.
    let line: String
    private let fields: Fields

    /// - Returns: nil for a line that is not a `status` message.
    init?(_ line: [UInt8]) {
        guard let fields = try? JSONDecoder().decode(Fields.self, from: Data(line)), fields.type == "status" else { return nil }
        self.line = String(decoding: line, as: UTF8.self)
        self.fields = fields
    }

    /// The number of pages that are ready; nil if the running program does not report it.
    var pageCount: Int? { fields.pages }

    /// A line for each value, without a newline at the end.
    var text: String {
        var preset = fields.preset ?? "unknown"
        if let seconds = fields.nextIn { preset += " (next in \(Int(clamping: seconds.rounded())) s)" }
        if fields.cycling == false { preset += " (automatic changes are off)" }
        let device = fields.device.map { "\($0.description) (\($0.state))" }
        return [
            "preset  \(preset)",
            "speed   \(fields.speed.map { "\($0)" } ?? "unknown")",
            "tempo   \(fields.bpm.map { "\($0) BPM" } ?? "unknown")",
            "device  \(device ?? fields.source ?? "none")",
            "pages   \(fields.pages.map { "\($0)" } ?? "unknown")",
        ].joined(separator: "\n")
    }
}
