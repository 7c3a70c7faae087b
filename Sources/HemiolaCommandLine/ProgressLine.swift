internal import HemiolaEngine

/// The line that shows how far a run is: `song.flac ████████░░░░ 45 %  212× real time  0:12 left  file 3 of 7`.
struct ProgressLine: Sendable, Hashable {
    /// How a terminal wants it.
    struct Style: Sendable, Hashable {
        var usesUnicode = true
        var usesColor = true
    }

    /// Seconds between two drawings.
    static let interval = 0.1

    var name: String
    /// The part of the run that is done, 0…1; nil when nobody knows how long it takes.
    var fraction: Double?
    /// Seconds of sound analysed of this input.
    var seconds: Double
    /// Seconds of sound per second.
    var speed: Double?
    /// Seconds that the run still takes.
    var remaining: Double?
    /// Which input, 0…, of how many.
    var index = 0
    var count = 1

    /// Whether a bar has a place: on a terminal that can move the cursor, when no records come between.
    static func fits(standardError: System.Destination, standardOutput: System.Destination, terminal: String?) -> Bool {
        guard standardError == .terminal, canMoveCursor(terminal) else { return false }
        switch standardOutput {
        case .file, .nowhere: return true
        // What is at the other end of a pipe may well print to this terminal.
        case .terminal, .pipe: return false
        }
    }

    /// - Parameter terminal: The value of TERM.
    static func canMoveCursor(_ terminal: String?) -> Bool {
        guard let terminal else { return false }
        return terminal != "dumb"
    }

    /// The line, at most one column less than the terminal has: in the last one some terminals begin a new line.
    func rendered(width: Int, style: Style = Style()) -> String {
        let room = max(width - 1, 0)
        let name = name.onOneLine
        for details in variants {
            let tail = details.joined(separator: "  ")
            let free = room - tail.count - 1
            guard let fraction else {
                guard free >= min(name.columns, Self.shortestName) else { continue }
                return "\(name.shortened(to: free, style)) \(tail)"
            }
            let nameRoom = min(name.columns, max(Self.shortestName, free / 3))
            let barRoom = min(free - nameRoom - 1, Self.longestBar)
            guard barRoom >= Self.shortestBar else { continue }
            return "\(name.shortened(to: nameRoom, style)) \(Self.bar(fraction, barRoom, style)) \(tail)"
        }
        let last = variants.last?.joined(separator: " ") ?? ""
        return last.count <= room ? last : ""
    }

    private static let shortestName = 8
    private static let shortestBar = 8
    private static let longestBar = 40

    /// What stands right of the bar, from rich to poor.
    private var variants: [[String]] {
        let lead = fraction.map { ["\(Int(($0 * 100).rounded(.down))) %"] } ?? [Self.clock(seconds)]
        let left = remaining.map { ["\(Self.clock($0)) left"] } ?? []
        let speed = speed.map { [Self.speedText($0)] } ?? []
        let short = self.speed.map { [Self.factor($0)] } ?? []
        let file = count > 1 ? ["file \(index + 1) of \(count)"] : []
        let files = count > 1 ? ["\(index + 1)/\(count)"] : []
        return [
            lead + speed + left + file, lead + short + left + files, lead + left + files, lead + left, lead,
        ]
    }

    private static func bar(_ fraction: Double, _ width: Int, _ style: Style) -> String {
        let full = Int((min(max(fraction, 0), 1) * Double(width)).rounded(.down))
        let done = String(repeating: style.usesUnicode ? "█" : "#", count: full)
        let rest = String(repeating: style.usesUnicode ? "░" : ".", count: width - full)
        return style.usesColor ? "\u{1B}[36m\(done)\u{1B}[2m\(rest)\u{1B}[0m" : done + rest
    }

    /// `3.4× real time`
    static func speedText(_ speed: Double) -> String {
        "\(factor(speed)) real time"
    }

    private static func factor(_ speed: Double) -> String {
        speed < 10 ? "\(speed.rounded(toPlaces: 1))×" : "\(Int(min(speed, 1e9)))×"
    }

    /// `0:07`, `1:02:03`
    private static func clock(_ seconds: Double) -> String {
        let whole = Int(min(max(seconds, 0), 1e9).rounded())
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        let pair = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        return hours > 0 ? "\(hours):\(pair(minutes)):\(pair(whole % 60))" : "\(minutes):\(pair(whole % 60))"
    }
}

extension ProgressLine.Style {
    /// What the environment says of this terminal.
    init(environment: (String) -> String?) {
        let locale = environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG") ?? ""
        usesUnicode = ["utf-8", "utf8"].contains { locale.lowercased().contains($0) }
        usesColor = environment("NO_COLOR") == nil && ProgressLine.canMoveCursor(environment("TERM") ?? "")
    }
}

/// Makes progress lines from a run's progress.
struct ProgressMeter {
    /// Seconds that a run may take before it gets a bar.
    private static let patience = 0.7
    /// Seconds of a look before it says how fast the work is.
    private static let shortestLook = 0.3

    private let start: Double
    /// The input under way when it was first seen, with the time and its seconds.
    private var first: (index: Int, time: Double, seconds: Double)?
    private var speed: Double?

    /// - Parameter start: When the run began, in seconds of any steady clock.
    init(start: Double) {
        self.start = start
    }

    /// - Returns: nil while it is too early for a line.
    mutating func line(for progress: PipelineProgress, at now: Double) -> ProgressLine? {
        let first = look(at: progress, now)
        guard now - start >= Self.patience, progress.streamCount > 0 else { return nil }
        let took = now - first.time
        if took >= Self.shortestLook { speed = (progress.seconds - first.seconds) / took }
        let done = progress.duration.flatMap { $0 > 0 ? min(progress.seconds / $0, 1) : nil }
        // Nobody knows how long the other files are: each counts the same.
        let count = Double(max(progress.streamCount, 1))
        let fraction = done.map { (Double(progress.streamIndex) + $0) / count }
        let remaining = fraction.flatMap { $0 > 0.01 ? (now - start) * (1 - $0) / $0 : nil }
        return ProgressLine(
            name: progress.streamName, fraction: fraction, seconds: progress.seconds, speed: speed, remaining: remaining,
            index: progress.streamIndex, count: progress.streamCount)
    }

    private mutating func look(at progress: PipelineProgress, _ now: Double) -> (index: Int, time: Double, seconds: Double) {
        if let first, first.index == progress.streamIndex, progress.seconds >= first.seconds { return first }
        let look = (progress.streamIndex, now, progress.seconds)
        first = look
        return look
    }
}
