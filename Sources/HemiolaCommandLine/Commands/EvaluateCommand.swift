internal import ArgumentParser
internal import Hemiola

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

    /// A measure: its key in JSON, its name in the table, and its value, a number of events or a ratio.
    typealias Figure = (key: String, name: String, value: JSONValue)

    func figures(_ reference: EventTimes, _ estimate: EventTimes) -> [Figure] {
        let start = skip ?? (onsets ? 0 : 5)
        let window = onsets ? Self.onsetWindow : BeatScore.window
        func matching(_ reference: [Double], _ estimate: [Double]) -> EventMatching {
            EventMatching(reference: reference.filter { $0 >= start }, estimate: estimate.filter { $0 >= start }, window: window)
        }
        let score = onsets ? nil : BeatScore(reference: reference.times, estimate: estimate.times, from: start)
        let all = score?.matching ?? matching(reference.times, estimate.times)
        var figures: [Figure] = [
            ("reference", "annotated", .integer(reference.times.count { $0 >= start })),
            ("estimate", "estimated", .integer(estimate.times.count { $0 >= start })), ("f", "F", .number(all.fMeasure)),
            ("precision", "precision", .number(all.precision)), ("recall", "recall", .number(all.recall)),
        ]
        if let score {
            figures += [
                ("cemgil", "Cemgil", .number(score.cemgil)), ("cmlc", "CMLc", .number(score.correctLevelContinuity)),
                ("cmlt", "CMLt", .number(score.correctLevelTotal)), ("amlc", "AMLc", .number(score.allowedLevelContinuity)),
                ("amlt", "AMLt", .number(score.allowedLevelTotal)),
            ]
            if let annotated = reference.downbeats, let found = estimate.downbeats {
                figures.append(("downbeat_f", "downbeat F", .number(matching(annotated, found).fMeasure)))
            }
        }
        if let actionable = estimate.actionable {
            figures.append(("f_when_emitted", "F when emitted", .number(matching(reference.times, actionable).fMeasure)))
        }
        return figures
    }

    static func table(_ figures: [Figure]) -> String {
        let width = figures.map(\.name.count).max() ?? 0
        return figures.map { figure in
            let value = if case .integer(let count) = figure.value { "\(count)" } else { figure.value.double?.fixed(places: 3) ?? "" }
            return "\(figure.name.padded(to: width))  \(value)\n"
        }.joined()
    }

    static func json(_ figures: [Figure]) -> JSONValue { .object(figures.map { .init($0.key, $0.value) }) }
}

extension Double {
    /// Rounded to exactly `places` digits after the decimal point.
    fileprivate func fixed(places: Int) -> String {
        let text = "\(rounded(toPlaces: places))"
        let digits = text.split(separator: ".", maxSplits: 1).last?.count ?? 0
        return text + String(repeating: "0", count: max(0, places - digits))
    }
}
