internal import ArgumentParser
internal import Hemiola

/// `hemiola evaluate REFERENCE ESTIMATE`
struct EvaluateCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: "Score detected beats or onsets against annotations.",
        usage: "hemiola evaluate <reference> <estimate> [<options>]",
        discussion: """
            <reference> and <estimate> are files of Hemiola's records, or text files with one line per event: the time in \
            seconds and, for beats, the position in the bar.

            Measures, as in MIREX and mir_eval: F-measure (tolerance 70 ms; onsets 50 ms), Cemgil, CMLc and CMLt (annotated \
            metrical level), AMLc and AMLt (also off-beat, double and half tempo). If the estimate is a file of records, "F \
            when emitted" scores each event at the time of its record or at its own time, whichever is later: the accuracy \
            that a live client gets.

            Examples:
              hemiola evaluate song.beats song.jsonl
              hemiola analyze song.flac | hemiola evaluate song.beats -
              hemiola evaluate song.beats other-tracker.txt --json | jq .f
              hemiola evaluate song.onsets song.jsonl --onsets

            Exit codes: 0 the score was printed; 2 a file cannot be read, or the arguments are invalid.
            """)

    @Argument(help: ArgumentHelp("The annotated events; - reads standard input.", valueName: "reference"), completion: .file())
    var reference: String

    @Argument(help: ArgumentHelp("The detected events; - reads standard input.", valueName: "estimate"), completion: .file())
    var estimate: String

    @Flag(help: "Score onsets instead of beats.")
    var onsets = false

    @Option(
        help: ArgumentHelp(
            "Exclude events before this time, in seconds, while a tracker warms up. Default: 5 for beats, 0 for onsets.",
            valueName: "seconds"))
    var skip: Double?

    @Flag(help: "Print JSON.")
    var json = false

    /// Maximum distance between a detected and an annotated onset, in seconds, as in MIREX.
    private static let onsetWindow = 0.05

    func validate() throws {
        if let skip, !skip.isFinite || skip < 0 { throw ValidationError("--skip: \(skip) is not a time in seconds") }
        if reference == "-" && estimate == "-" {
            throw ValidationError("standard input cannot be both the reference and the estimate; use a file for one of them")
        }
    }

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        let figures = figures(try events(reference), try events(estimate))
        return try Root.print(json ? Self.json(figures).line : Self.table(figures))
    }

    func events(_ path: String) throws(Failure) -> EventTimes {
        let title = CommandInput.title(of: path)
        var events = EventTimes.Reader(kind: onsets ? .onset : .beat, title: title)
        try TextLines.read(path) { line, number throws(Failure) in try events.add(line, number) }
        return events.times
    }

    /// A measure: its key in JSON, its name in the table, its value.
    struct Figure: Equatable {
        enum Value: Equatable {
            case count(Int)
            case ratio(Double)
        }

        var key: String
        var name: String
        var value: Value
    }

    func figures(_ reference: EventTimes, _ estimate: EventTimes) -> [Figure] {
        let start = skip ?? (onsets ? 0 : 5)
        let counts = [
            Figure(key: "reference", name: "annotated", value: .count(reference.times.count { $0 >= start })),
            Figure(key: "estimate", name: "estimated", value: .count(estimate.times.count { $0 >= start })),
        ]
        if onsets {
            let matching = Self.matching(reference.times, estimate.times, from: start, window: Self.onsetWindow)
            return counts + Self.figures(of: matching)
                + [estimate.actionable].compactMap { $0 }.map {
                    let late = Self.matching(reference.times, $0, from: start, window: Self.onsetWindow)
                    return Figure(key: "f_when_emitted", name: "F when emitted", value: .ratio(late.fMeasure))
                }
        }
        let score = BeatScore(reference: reference.times, estimate: estimate.times, from: start)
        var figures = counts + Self.figures(of: score.matching)
        figures += [
            Figure(key: "cemgil", name: "Cemgil", value: .ratio(score.cemgil)),
            Figure(key: "cmlc", name: "CMLc", value: .ratio(score.correctLevelContinuity)),
            Figure(key: "cmlt", name: "CMLt", value: .ratio(score.correctLevelTotal)),
            Figure(key: "amlc", name: "AMLc", value: .ratio(score.allowedLevelContinuity)),
            Figure(key: "amlt", name: "AMLt", value: .ratio(score.allowedLevelTotal)),
        ]
        if let annotated = reference.downbeats, let found = estimate.downbeats {
            let matching = Self.matching(annotated, found, from: start, window: BeatScore.window)
            figures.append(Figure(key: "downbeat_f", name: "downbeat F", value: .ratio(matching.fMeasure)))
        }
        if let actionable = estimate.actionable {
            let late = Self.matching(reference.times, actionable, from: start, window: BeatScore.window)
            figures.append(Figure(key: "f_when_emitted", name: "F when emitted", value: .ratio(late.fMeasure)))
        }
        return figures
    }

    private static func matching(_ reference: [Double], _ estimate: [Double], from start: Double, window: Double) -> EventMatching {
        EventMatching(reference: reference.filter { $0 >= start }, estimate: estimate.filter { $0 >= start }, window: window)
    }

    private static func figures(of matching: EventMatching) -> [Figure] {
        [
            Figure(key: "f", name: "F", value: .ratio(matching.fMeasure)),
            Figure(key: "precision", name: "precision", value: .ratio(matching.precision)),
            Figure(key: "recall", name: "recall", value: .ratio(matching.recall)),
        ]
    }

    static func table(_ figures: [Figure]) -> String {
        let width = figures.map(\.name.count).max() ?? 0
        return figures.map { figure in
            let value =
                switch figure.value {
                case .count(let count): "\(count)"
                case .ratio(let ratio): ratio.fixed(places: 3)
                }
            return "\(figure.name.padded(to: width))  \(value)\n"
        }.joined()
    }

    static func json(_ figures: [Figure]) -> JSONValue {
        .object(
            figures.map { figure in
                switch figure.value {
                case .count(let count): .init(figure.key, .integer(count))
                case .ratio(let ratio): .init(figure.key, .number(ratio))
                }
            })
    }
}

extension Double {
    /// Rounded to exactly `places` digits after the decimal point.
    fileprivate func fixed(places: Int) -> String {
        let text = "\(rounded(toPlaces: places))"
        let digits = text.split(separator: ".", maxSplits: 1).last?.count ?? 0
        return text + String(repeating: "0", count: max(0, places - digits))
    }
}
