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
        var replay = ControlReplay()
        let title = CommandInput.title(of: controls)
        try TextLines.read(controls, option: "--replay-controls: ") { line, number throws(Failure) in
            try ControlRecords.add(line, number, title: title, to: &replay, catalog)
        }
        return replay
    }
}

/// Reads `control` records from JSON Lines that Hemiola wrote.
enum ControlRecords {
    /// The most controls of a file: ten a second for a day.
    private static let limit = 1 << 20

    /// Adds the control of a line.
    ///
    /// - Throws: The line is not a record, or its control is not declared or invalid, with its line number.
    static func add(
        _ line: [UInt8], _ number: Int, title: String, to replay: inout ControlReplay, _ catalog: RecordCatalog
    ) throws(Failure) {
        if LineSplitter.Line(line).isBlank { return }
        try line.readRecord("control", at: "\(title):\(number)") { record throws(Problem) in try add(record, to: &replay, catalog) }
        guard replay.count <= limit else { throw Failure("\(title):\(number): more than \(limit) controls; replay a part of them") }
    }

    private static func add(_ record: JSONValue, to replay: inout ControlReplay, _ catalog: RecordCatalog) throws(Problem) {
        let name = try record.text("control")
        guard let type = catalog.control(name) else { throw Problem("unknown control \"\(name)\"") }
        let frame = try record.integer("frame")
        guard frame >= 0 else { throw Problem("\"frame\" is \(frame), which is negative") }
        let stamped = StampedControl(try Control(type, from: record), at: Int64(frame), from: try record.optionalText("from") ?? "controls")
        // The file is that of the input, in a recording of several inputs.
        replay.add(stamped, file: try record.optionalText("file"))
    }
}
