internal import ArgumentParser
internal import Hemiola
internal import HemiolaEvaluation

/// `hemiola evaluate REFERENCE ESTIMATE`
struct EvaluateCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: "Judge beats or onsets by annotated ones.",
        usage: "hemiola evaluate <reference> <estimate> [<options>]",
        discussion: """
            Each is a file of Hemiola's records, or has a line per event: the time in seconds and, for beats, the place in \
            the bar. The measures are those of MIREX and mir_eval: F (within 70 ms; onsets within 50), Cemgil, CMLc and CMLt \
            (the annotated level of the metre), AMLc and AMLt (also off-beat, twice and half the tempo). From records it also \
            tells the F of somebody who acts when a beat is told, and not before its time.

            Examples:
              hemiola evaluate song.beats song.jsonl
              hemiola analyze song.flac | hemiola evaluate song.beats -
              hemiola evaluate song.beats other-tracker.txt --json | jq .f
              hemiola evaluate song.onsets song.jsonl --onsets

            Exit codes: 0 it was judged, however well; 2 something cannot be read.
            """)

    @Argument(help: ArgumentHelp("The annotated events; - is standard input.", valueName: "reference"), completion: .file())
    var reference: String

    @Argument(help: ArgumentHelp("The estimated events; - is standard input.", valueName: "estimate"), completion: .file())
    var estimate: String

    @Flag(help: "Onsets, not beats.")
    var onsets = false

    @Option(
        help: ArgumentHelp(
            "Leave out what comes before: a tracker may take its time. Beats: 5 unless set, onsets: 0.", valueName: "seconds"))
    var skip: Double?

    @Flag(help: "As JSON.")
    var json = false

    /// Half the window in which an onset is found, in seconds: that of MIREX.
    private static let onsetWindow = 0.05

    func validate() throws {
        if let skip, !skip.isFinite || skip < 0 { throw ValidationError("--skip: \(skip) is no time in seconds") }
        if reference == "-" && estimate == "-" { throw ValidationError("standard input cannot be both; give one of them a name") }
    }

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        let figures = figures(try events(reference), try events(estimate))
        return try Root.print(json ? Self.json(figures).line : Self.table(figures))
    }

    func events(_ path: String) throws(Failure) -> EventTimes {
        let title = System.title(of: path)
        let bytes: [UInt8]
        do {
            bytes = try System.contents(of: path)
        } catch {
            throw Failure("cannot read \(title): \(error)")
        }
        guard let text = String(validating: bytes.withoutByteOrderMark, as: UTF8.self) else {
            throw Failure("\(title) is no text in UTF-8")
        }
        do {
            return try EventTimes(text, kind: onsets ? .onset : .beat)
        } catch {
            throw Failure("\(title):\(error.line): \(error.message)")
        }
    }

    /// A measure: its key in JSON, its name for people, its value.
    struct Figure: Equatable {
        enum Value: Equatable {
            case count(Int)
            case part(Double)
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
                    return Figure(key: "f_when_told", name: "F when told", value: .part(late.fMeasure))
                }
        }
        let score = BeatScore(reference: reference.times, estimate: estimate.times, from: start)
        var figures = counts + Self.figures(of: score.matching)
        figures += [
            Figure(key: "cemgil", name: "Cemgil", value: .part(score.cemgil)),
            Figure(key: "cmlc", name: "CMLc", value: .part(score.correctLevelContinuity)),
            Figure(key: "cmlt", name: "CMLt", value: .part(score.correctLevelTotal)),
            Figure(key: "amlc", name: "AMLc", value: .part(score.allowedLevelContinuity)),
            Figure(key: "amlt", name: "AMLt", value: .part(score.allowedLevelTotal)),
        ]
        if let annotated = reference.downbeats, let found = estimate.downbeats {
            let matching = Self.matching(annotated, found, from: start, window: BeatScore.window)
            figures.append(Figure(key: "downbeat_f", name: "downbeat F", value: .part(matching.fMeasure)))
        }
        if let actionable = estimate.actionable {
            let late = Self.matching(reference.times, actionable, from: start, window: BeatScore.window)
            figures.append(Figure(key: "f_when_told", name: "F when told", value: .part(late.fMeasure)))
        }
        return figures
    }

    private static func matching(_ reference: [Double], _ estimate: [Double], from start: Double, window: Double) -> EventMatching {
        EventMatching(reference: reference.filter { $0 >= start }, estimate: estimate.filter { $0 >= start }, window: window)
    }

    private static func figures(of matching: EventMatching) -> [Figure] {
        [
            Figure(key: "f", name: "F", value: .part(matching.fMeasure)),
            Figure(key: "precision", name: "precision", value: .part(matching.precision)),
            Figure(key: "recall", name: "recall", value: .part(matching.recall)),
        ]
    }

    static func table(_ figures: [Figure]) -> String {
        let width = figures.map(\.name.count).max() ?? 0
        return figures.map { figure in
            let value =
                switch figure.value {
                case .count(let count): "\(count)"
                case .part(let part): part.fixed(places: 3)
                }
            return "\(figure.name.padded(to: width))  \(value)\n"
        }.joined()
    }

    static func json(_ figures: [Figure]) -> JSONTree {
        .object(
            figures.map { figure in
                switch figure.value {
                case .count(let count): (figure.key, .integer(count))
                case .part(let part): (figure.key, .number(part))
                }
            })
    }
}

extension Double {
    /// With exactly so many digits behind the point.
    fileprivate func fixed(places: Int) -> String {
        let text = "\(rounded(toPlaces: places))"
        let digits = text.split(separator: ".", maxSplits: 1).last?.count ?? 0
        return text + String(repeating: "0", count: max(0, places - digits))
    }
}
