internal import HemiolaEngine
internal import HemiolaSystem

/// The progress of a run: `song.flac ████████░░░░ 45 %  212× real time  0:12 left  file 3 of 7`.
struct ProgressLine: Sendable, Hashable {
    /// Seconds between two updates of the terminal.
    static let interval = 0.1

    var name: String
    /// The part of the run that is done, 0…1; nil when the duration is unknown.
    var fraction: Double?
    /// Seconds of sound analysed of this input.
    var seconds: Double
    /// Seconds of sound per second.
    var speed: Double?
    /// Pictures in a second of a film; nil: no film is made.
    var pictureRate: Double?
    /// Estimated seconds until the end of the run.
    var remaining: Double?
    /// The index of the input, from 0, and the number of inputs.
    var index = 0
    var count = 1

    /// Whether a bar can be shown: standard error is a terminal that can move the cursor, and no records appear on it.
    static func fits(standardError: FileDescriptor.Destination, standardOutput: FileDescriptor.Destination, terminal: String?) -> Bool {
        // The program that reads a pipe may print to this terminal.
        standardError == .terminal && FileDescriptor.canMoveCursor(terminal) && (standardOutput == .file || standardOutput == .nowhere)
    }

    /// The line, at least one column shorter than the terminal: some terminals wrap after the last column.
    func rendered(width: Int, style: TerminalStyle) -> String {
        let available = max(width - 1, 0)
        let name = name.onOneLine
        for details in variants {
            let tail = details.joined(separator: "  ")
            let free = available - tail.count - 1
            guard let fraction else {
                guard free >= min(name.columns, Self.shortestName) else { continue }
                return "\(name.shortened(to: free, style)) \(tail)"
            }
            let nameWidth = min(name.columns, max(Self.shortestName, free / 3))
            let barWidth = min(free - nameWidth - 1, Self.longestBar)
            guard barWidth >= Self.shortestBar else { continue }
            let full = Int((min(max(fraction, 0), 1) * Double(barWidth)).rounded(.down))
            return "\(name.shortened(to: nameWidth, style)) \(style.bar(full, of: barWidth, color: 36)) \(tail)"
        }
        let last = variants.last?.joined(separator: " ") ?? ""
        return last.count <= available ? last : ""
    }

    private static let shortestName = 8
    private static let shortestBar = 8
    private static let longestBar = 40

    /// The texts right of the bar, from the most to the least detailed.
    private var variants: [[String]] {
        let lead = fraction.map { ["\(Int(($0 * 100).rounded(.down))) %"] } ?? [Self.clock(seconds)]
        let left = remaining.map { ["\(Self.clock($0)) left"] } ?? []
        let pictures = pictureRate.flatMap { rate in self.speed.map { ["\(($0 * rate).rounded(toPlaces: 1)) pictures/s"] } }
        let speed = pictures ?? speed.map { [Self.speedText($0)] } ?? []
        let short = pictures ?? self.speed.map { [Self.factor($0)] } ?? []
        let file = count > 1 ? ["file \(index + 1) of \(count)"] : []
        let files = count > 1 ? ["\(index + 1)/\(count)"] : []
        return [
            lead + speed + left + file, lead + short + left + files, lead + left + files, lead + left, lead,
        ]
    }

    /// `3.4× real time`
    static func speedText(_ speed: Double) -> String { "\(factor(speed)) real time" }

    private static func factor(_ speed: Double) -> String {
        speed < 10 ? "\(speed.rounded(toPlaces: 1))×" : "\(Int(min(speed, 1e9)))×"
    }

    /// `0:07`, `1:02:03`
    static func clock(_ seconds: Double) -> String {
        let whole = Int(min(max(seconds, 0), 1e9).rounded())
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        let pair = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        return hours > 0 ? "\(hours):\(pair(minutes)):\(pair(whole % 60))" : "\(minutes):\(pair(whole % 60))"
    }
}

/// Makes progress lines from a run's progress.
struct ProgressMeter {
    /// Seconds after which a run gets a progress bar.
    private static let delay = 0.7
    /// Shortest interval over which the speed is measured, in seconds.
    private static let shortestInterval = 0.3

    private let start: Double
    private let pictureRate: Double?
    /// The first observation of the current input: its index, the time, and the seconds analysed by then.
    private var first = (index: -1, time: 0.0, seconds: 0.0)
    private var speed: Double?

    /// - Parameters:
    ///   - start: The start of the run, in seconds of any monotonic clock.
    ///   - pictureRate: The pictures in a second of a film; nil: no film is made.
    init(start: Double, pictureRate: Double? = nil) {
        (self.start, self.pictureRate) = (start, pictureRate)
    }

    /// - Returns: nil while it is too early for a line.
    mutating func line(for progress: PipelineProgress, at now: Double) -> ProgressLine? {
        let (index, count, seconds) = (progress.streamIndex, progress.streamCount, progress.seconds)
        if first.index != index || seconds < first.seconds { first = (index, now, seconds) }
        guard now - start >= Self.delay, !progress.streamName.isEmpty else { return nil }
        let took = now - first.time
        if took >= Self.shortestInterval { speed = (seconds - first.seconds) / took }
        let done = progress.duration.flatMap { $0 > 0 ? min(seconds / $0, 1) : nil }
        // The durations of the other files are unknown: all files have the same weight. Of an unknown number of files, only the time of
        // each is known.
        let fraction = count == 0 ? nil : done.map { (Double(index) + $0) / Double(count) }
        let remaining = fraction.flatMap { $0 > 0.01 ? (now - start) * (1 - $0) / $0 : nil }
        return ProgressLine(
            name: progress.streamName, fraction: fraction, seconds: seconds, speed: speed, pictureRate: pictureRate, remaining: remaining,
            index: index, count: count)
    }
}
