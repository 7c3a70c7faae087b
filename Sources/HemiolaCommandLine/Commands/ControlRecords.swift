internal import ArgumentParser
internal import HemiolaEngine
internal import HemiolaRecords
internal import HemiolaSystem

/// `--replay-controls`: control messages of an earlier run.
struct ReplayOptions: ParsableArguments {
    @Option(
        name: .customLong("replay-controls"),
        help: ArgumentHelp(
            "Replay the controls of this JSON Lines file. Each is applied in the batch that contains its frame; other records are ignored.",
            valueName: "records"),
        completion: .file())
    var controls: String?

    /// - Parameter catalog: The controls that the program declares.
    /// - Returns: The controls of the file; none where no file is named.
    func read(_ catalog: RecordCatalog) throws(Failure) -> ControlReplay {
        guard let controls else { return ControlReplay() }
        let bytes = try System.input(controls, option: "--replay-controls: ")
        return try ControlRecords.parse(bytes, title: System.title(of: controls), catalog)
    }
}

/// Reads `control` records from JSON Lines that Hemiola wrote.
enum ControlRecords {
    /// - Throws: The first line that is not a record, or whose control is not declared or invalid, with its line number.
    static func parse(_ bytes: [UInt8], title: String, _ catalog: RecordCatalog) throws(Failure) -> ControlReplay {
        var replay = ControlReplay()
        var lines = LineSplitter()
        lines.append(bytes.withoutByteOrderMark)
        while let line = lines.next() ?? lines.finish() {
            if line.isBlank || isObviouslyOther(line.bytes) { continue }
            do throws(Problem) {
                try add(JSONValue(line.bytes), to: &replay, catalog)
            } catch {
                throw Failure("\(title):\(lines.lineNumber): \(error.message)")
            }
        }
        return replay
    }

    /// Whether a line is a record of another type. Avoids decoding the batches, which are most lines of a recording.
    private static func isObviouslyOther(_ line: [UInt8]) -> Bool {
        let start = Array(#"{"type":""#.utf8)
        return line.starts(with: start) && line.last == UInt8(ascii: "}")
            && !line.dropFirst(start.count).starts(with: Array("control\"".utf8))
    }

    /// Adds the control of a record; nothing for a record of another type.
    private static func add(_ record: JSONValue, to replay: inout ControlReplay, _ catalog: RecordCatalog) throws(Problem) {
        guard try record.text("type") == "control" else { return }
        let name = try record.text("control")
        guard let type = catalog.control(name) else { throw Problem("unknown control \"\(name)\"") }
        let frame = try record.integer("frame")
        guard frame >= 0 else { throw Problem("\"frame\" is \(frame), which is negative") }
        let stamped = StampedControl(try Control(type, from: record), at: Int64(frame), from: try record.optionalText("from") ?? "controls")
        // The file is that of the input, in a recording of several inputs.
        replay.add(stamped, file: try record.optionalText("file"))
    }
}
