internal import ArgumentParser
internal import FoundationEssentials
internal import HemiolaEngine
internal import HemiolaSignal

/// Which controls are replayed.
struct ReplayOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Replay the control records of this file, each in the batch that contains its frame; others are passed over.",
            valueName: "records"),
        completion: .file())
    var controls: String?

    /// - Returns: What the file says; nothing to replay when there is none.
    func read() throws(Failure) -> ControlReplay {
        guard let controls else { return ControlReplay() }
        let bytes: [UInt8]
        do {
            bytes = try System.contents(of: controls)
        } catch {
            throw Failure("--controls: cannot read \(System.title(of: controls)): \(error)")
        }
        return try ControlRecords.parse(bytes, title: System.title(of: controls))
    }
}

/// `control` records as Hemiola writes them, read back.
enum ControlRecords {
    /// - Throws: The first line that is no record, or no control that Hemiola knows, with its number.
    static func parse(_ bytes: [UInt8], title: String) throws(Failure) -> ControlReplay {
        var replay = ControlReplay()
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\t") }) { continue }
            if isObviouslyOther(line) { continue }
            do throws(Fault) {
                guard let record = try record(line) else { continue }
                replay.add(try record.stamped(), file: record.file)
            } catch {
                throw Failure("\(title):\(index + 1): \(error.message)")
            }
        }
        return replay
    }

    struct Fault: Error {
        var message: String
    }

    /// Whether a line is one of Hemiola's of another type: a whole recording is mostly batches.
    private static func isObviouslyOther(_ line: ArraySlice<UInt8>) -> Bool {
        let start = Array(#"{"type":""#.utf8)
        return line.starts(with: start) && line.last == UInt8(ascii: "}")
            && !line.dropFirst(start.count).starts(with: Array("control\"".utf8))
    }

    private static func record(_ line: ArraySlice<UInt8>) throws(Fault) -> ControlRecord? {
        do {
            guard try JSONDecoder().decode(TypeOnly.self, from: Data(line)).type == "control" else { return nil }
            return try JSONDecoder().decode(ControlRecord.self, from: Data(line))
        } catch let error as DecodingError {
            throw Fault(message: text(error))
        } catch {
            throw Fault(message: "this is no JSON record")
        }
    }

    private static func text(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "the record has no \"\(key.stringValue)\""
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.isEmpty
                ? "this is no JSON record" : "\"\(context.codingPath.map(\.stringValue).joined(separator: "."))\" has another type"
        default: "this is no JSON record"
        }
    }

    private struct TypeOnly: Decodable {
        var type: String
    }
}

private struct ControlRecord: Decodable {
    var frame: Int64
    var control: String
    var from: String?
    /// Of which input, where the recording is of several.
    var file: String?

    var bpm: Double?
    var name: String?
    var locked: Bool?
    var speed: Double?
    var presets: [String]?
    var names: [String]?
    var key: String?
    var note: Int?
    var event: String?

    func stamped() throws(ControlRecords.Fault) -> StampedControl {
        guard frame >= 0 else { throw ControlRecords.Fault(message: "\"frame\" is \(frame): no batch contains it") }
        return StampedControl(try value(), at: frame, from: from ?? "controls")
    }

    /// By the names of `Control.name`.
    private func value() throws(ControlRecords.Fault) -> Control {
        switch control {
        case "tap": .tap
        case "lockTempo": .lockTempo(beatsPerMinute: bpm)
        case "halveTempo": .halveTempo
        case "doubleTempo": .doubleTempo
        case "setDownbeat": .setDownbeat
        case "resetTempo": .resetTempo
        case "nextPreset": .nextPreset
        case "previousPreset": .previousPreset
        case "randomPreset": .randomPreset
        case "loadPreset": .loadPreset(name: try need(name, "name"))
        case "lockPreset": .lockPreset(try need(locked, "locked"))
        case "toggleCycle": .toggleCycle
        case "setSpeed": .setSpeed(try need(speed, "speed"))
        case "ready": .ready(presets: try need(presets, "presets"))
        case "presetNames": .presetNames(try need(names, "names"))
        case "presetHandler": .presetChanged(name: try need(name, "name"))
        case "presetRefused": .presetRefused(name: try need(name, "name"))
        case "speedHandler": .speedChanged(try need(speed, "speed"))
        case "keyHandler":
            .key(KeyStroke(key: try need(key, "key"), note: note, phase: try need(event.flatMap(KeyStroke.Phase.init), "event")))
        default:
            throw ControlRecords.Fault(message: "there is no control \"\(control)\"")
        }
    }

    private func need<Value>(_ value: Value?, _ key: String) throws(ControlRecords.Fault) -> Value {
        guard let value else { throw ControlRecords.Fault(message: "the control \(control) needs its \"\(key)\"") }
        return value
    }
}

extension System {
    /// A path as messages name it.
    static func title(of path: String) -> String {
        path == "-" ? "standard input" : path
    }
}
