internal import Hemiola

/// Frames of a timeline in a program for editing.
struct FrameRate {
    /// Frames that a second of the timecode counts.
    let count: Int
    /// Frames per second: for 23.976, 29.97 and 59.94 the fractions of 1001 for which they stand.
    let exact: Double

    /// nil: there is no such rate.
    init?(_ framesPerSecond: Double) {
        let whole = framesPerSecond.rounded(.up)
        count = Int(whole)
        exact = framesPerSecond == whole ? whole : whole * 1000 / 1001
        guard abs(framesPerSecond - exact) < 0.005 else { return nil }
    }
}

/// Encodes marks as an edit decision list (CMX 3600, non-drop frame) with the markers of a timeline, as DaVinci Resolve exports and
/// imports them: each is an event of one frame, and a line with its colour and its name.
///
/// A frame has one marker: that of the longest mark. The timeline begins at 01:00:00:00.
struct MarkerList {
    /// The document.
    let document: String

    init(_ marks: [Mark], title: String, _ rate: FrameRate) {
        // The longest kind is the first.
        var markers: [Int: Mark] = [:]
        for mark in marks {
            let frame = Self.frame(of: mark.start, rate)
            if markers[frame] == nil { markers[frame] = mark }
        }
        var text = "TITLE: \(title.onOneLine)\nFCM: NON-DROP FRAME\n"
        for (index, marker) in markers.sorted(by: { $0.key < $1.key }).enumerated() {
            let (start, end) = (Self.timecode(marker.key, rate), Self.timecode(marker.key + 1, rate))
            // A vertical bar would end the name.
            let label = marker.value.label.onOneLine.replacing("|", with: "/")
            let name = label.isEmpty ? marker.value.kind.rawValue : "\(marker.value.kind.rawValue) \(label)"
            text += "\n\(Self.digits(index + 1, 3))  001      V     C        \(start) \(end) \(start) \(end)\n"
            text += " |C:ResolveColor\(Self.color(of: marker.value.kind)) |M:\(name) |D:1\n"
        }
        document = text
    }

    private static func color(of kind: Mark.Kind) -> String {
        switch kind {
        case .section: "Red"
        case .bar: "Blue"
        case .beat: "Cyan"
        }
    }

    /// The frame that begins nearest to a time. In a damaged recording a time may be of any size.
    private static func frame(of time: Double, _ rate: FrameRate) -> Int {
        Int((min(max(time, 0), 1e9) * rate.exact).rounded())
    }

    /// The timecode of a frame of the timeline. It begins anew after 24 hours.
    private static func timecode(_ frame: Int, _ rate: FrameRate) -> String {
        let seconds = frame / rate.count + 3600
        return [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60, frame % rate.count].map { digits($0, 2) }.joined(separator: ":")
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
    }
}
