import Foundation
import Hemiola
import HemiolaFieldMaps
import HemiolaTesting
import TestSupport
import Testing

@Suite struct FieldMapTests {
    private static let header: StreamHeader = {
        var levels = AnalyzerOutputs()
        _ = levels.add(Feature("rms_db", .decibels, ""))
        var beat = AnalyzerOutputs()
        _ = beat.add(Feature("bpm", .beatsPerMinute, ""))
        _ = beat.add(Feature("phase", .none, ""))
        var visualizer = AnalyzerOutputs()
        _ = visualizer.add(Feature("bars", .none, count: 3, ""))
        return .test(analyzers: [("levels", levels), ("beat", beat), ("visualizer", visualizer)])
    }()

    /// The lines of the error, of the text or of its names.
    private func problems(_ text: String) -> [String] {
        do throws(Problem) {
            _ = try FieldRoutes(try FieldMap(text, title: "m"), for: Self.header)
            return []
        } catch {
            return error.all.map(\.message)
        }
    }

    /// The values of two batches and of the events after them, as `destination values`.
    private func values(_ text: String, rows: [[Float]], events: [Event] = []) throws -> [String] {
        let map = try FieldMap(text, title: "m")
        var routes = try FieldRoutes(map, for: Self.header)
        var lines: [String] = []
        for row in rows {
            let block = BatchBlock([CollectedBatch(row: row)])
            routes.forEachValue(of: block[0]) { entry, values in
                lines.append("\(map.entries[entry].destination) \(values.map(\.shown).joined(separator: " "))")
            }
        }
        for event in events {
            routes.forEachValue(of: event) { entry, values in
                lines.append("\(map.entries[entry].destination) \(values.map(\.shown).joined(separator: " "))")
            }
        }
        return lines
    }

    private static let row: [Float] = [-6, 120, 0.25, 0.1, 0.5, 1]
    private static let beat = Beat(beatsPerMinute: 128, position: 1, confidence: 0.5).event(at: 2)

    @Test func `features: one value, all values, one of several`() throws {
        let text = "- {from: beat.phase, to: /p}\n- {from: visualizer.bars, to: /b}\n- {from: 'visualizer.bars[2]', to: 7}"
        #expect(try values(text, rows: [Self.row]) == ["/p 0.25", "/b 0.1 0.5 1.0", "7 1.0"])
    }

    @Test func `scale: linear, limited at both ends, also downwards`() throws {
        let text = "- {from: levels.rms_db, to: a, scale: [-60, 0, 0, 127]}\n- {from: levels.rms_db, to: b, scale: [-5, 0, 1, 0]}"
        #expect(try values(text, rows: [[-30, 120, 0, 0, 0, 0]]) == ["a 63.5", "b 1.0"])
    }

    @Test func `type: whole numbers are rounded, truth begins at a half`() throws {
        let text = "- {from: beat.phase, to: i, scale: [0, 1, 0, 127], type: int}\n- {from: beat.phase, to: t, type: bool}"
        #expect(try values(text, rows: [Self.row, [-6, 120, 0.5, 0, 0, 0]]) == ["i 32", "t false", "i 64", "t true"])
    }

    @Test func `value that does not exist: not sent`() throws {
        #expect(try values("- {from: beat.bpm, to: x}", rows: [[-6, .nan, 0, 0, 0, 0], Self.row]) == ["x 120.0"])
    }

    @Test func `when change: sent only when the value differs`() throws {
        #expect(
            try values("- {from: beat.bpm, to: x, when: change}", rows: [Self.row, Self.row, [0, 90, 0, 0, 0, 0]]) == ["x 120.0", "x 90.0"])
    }

    @Test func `when record: its field, all its fields, a constant, a feature of the batch`() throws {
        let text = """
            - {from: position, to: a, when: beat}
            - {to: b, when: beat}
            - {value: 1, to: c, when: beat}
            - {from: beat.phase, to: d, when: beat}
            - {from: strength, to: e, when: onset}
            """
        let onset = Event(at: 2, Onset(strength: 0.75))
        #expect(
            try values(text, rows: [Self.row], events: [Self.beat, onset]) == ["a 1", "b 128.0 1 0.5", "c 1", "d 0.25", "e 0.75"])
    }

    @Test func `category: its number, under the name of the number`() throws {
        var outputs = AnalyzerOutputs()
        _ = outputs.add(Feature("tonic", labels: ["C", "Db", "D"], "The tonic."))
        let header = StreamHeader.test(analyzers: [("musical_key", outputs)])
        var routes = try FieldRoutes(try FieldMap("- {from: musical-key.tonic_number, to: a}", title: "m"), for: header)
        var found: [[ParameterValue]] = []
        routes.forEachValue(of: BatchBlock([CollectedBatch(row: [2])])[0]) { found.append($1) }
        #expect(found == [[.number(2)]])
        #expect(throws: Problem.self) { try FieldRoutes(try FieldMap("- {from: musical_key.tonic, to: a}", title: "m"), for: header) }
    }

    @Test(arguments: [
        ("{value: 1, to: x, when: device, where: {state: opend}}", "where: device.state is never opend; it is one of opened, "),
        ("{value: 1, to: x, when: beat, where: {position: one}}", "where: beat.position is never one; it is a number"),
    ])
    func `where: a value that the field cannot have is refused`(entry: String, message: String) throws {
        let error = #expect(throws: Problem.self) { try FieldRoutes(try FieldMap("- \(entry)", title: "m"), for: Self.header) }
        #expect(error?.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test func `where: only records whose field has the value`() throws {
        let text = "- {value: 1, to: x, when: beat, where: {position: 1}}"
        let other = Beat(beatsPerMinute: 128, position: 2, confidence: 0.5).event(at: 3)
        #expect(try values(text, rows: [], events: [other, Self.beat]) == ["x 1"])
    }

    @Test func `every: the first of the records that meet the condition, and each second after it; batches and changes too`() throws {
        let text = """
            - {from: position, to: beats, when: beat, every: 2}
            - {from: bpm, to: bars, when: beat, where: {position: 1}, every: 2}
            """
        let beats = (0..<9).map { Beat(beatsPerMinute: Double(100 + $0), position: $0 % 3 + 1, confidence: 0.5).event(at: Double($0)) }
        #expect(
            try values(text, rows: [], events: beats) == [
                "beats 1", "bars 100.0", "beats 3", "beats 2", "beats 1", "bars 106.0", "beats 3",
            ])
        let levels = "- {from: levels.rms_db, to: a, every: 3}\n- {from: levels.rms_db, to: b, when: change, every: 2}"
        let rows: [[Float]] = [-9, -9, .nan, -8, -7, -7].map { [$0, 120, 0, 0, 0, 0] }
        #expect(try values(levels, rows: rows) == ["a -9.0", "b -9.0", "a -7.0", "b -7.0"])
    }

    @Test(arguments: [
        ("a: 1", "m:1:1: a field map is a list of entries, for example: - {from: beat.phase, to: /hemiola/phase}"),
        ("", "m: a field map is a list of entries, for example: - {from: beat.phase, to: /hemiola/phase}"),
        ("- {frm: beat.phase, to: /a}", "m:1:4: [0].frm: unknown key; did you mean from?"),
        ("- {from: beat.fase, to: /a}", "m:1:3: [0].from: beat has no feature \"fase\"; did you mean beat.phase?"),
        ("- {from: beet.phase, to: /a}", "m:1:3: [0].from: this pipeline has no analyzer \"beet\"; did you mean beat?"),
        ("- {from: pitch.f0_hz, to: /a}", "m:1:3: [0].from: this pipeline has no analyzer \"pitch\"; add it: --analyzer +pitch"),
        ("- {from: phase, to: /a}", "m:1:10: [0].from: \"phase\" is no ANALYZER.FEATURE; a field of a record needs when: RECORD"),
        ("- {from: postion, to: /a, when: beat}", "m:1:3: [0].from: the record beat has no field \"postion\"; did you mean position?"),
        ("- {value: 1, to: /a, when: beats}", "m:1:3: [0].when: there is no record \"beats\"; did you mean beat?"),
        ("- {value: 1, to: /a}", "m:1:3: [0]: a value needs when: RECORD, the record with which it is sent"),
        ("- {from: beat.phase}", "m:1:3: [0]: the key to is missing; add the destination"),
        ("- {to: /a}", "m:1:3: [0]: the key from is missing; add from: ANALYZER.FEATURE, or when: RECORD"),
        (
            "- {from: beat.phase, to: /a, scale: [0, 1]}",
            "m:1:37: [0].scale: a scale is a list of four numbers: [input low, input high, output low, output high]"
        ),
        ("- {from: beat.phase, to: /a, scale: [1, 1, 0, 1]}", "m:1:37: [0].scale: the two ends of the input are equal"),
        ("- {from: beat.phase, to: /a, scale: [0, x, 0, 1]}", "m:1:41: [0].scale: \"x\" is not a number"),
        ("- {from: beat.phase, to: /a, type: double}", "m:1:36: [0].type: \"double\" is not a type; use one of float, int, bool, text"),
        ("- {from: beat.phase, to: /a, type: text}", "m:1:3: [0].type: a feature is a number; use float or int"),
        ("- {from: 'visualizer.bars[3]', to: /a}", "m:1:3: [0].from: visualizer.bars has 3 values, of which the first is [0]"),
        ("- {from: beat.phase, to: /a, where: {position: 1}}", "m:1:37: [0].where: where needs when: RECORD, whose fields it names"),
        ("- {from: beat.phase, to: /a, every: 0}", "m:1:37: [0].every: \"0\" is not a whole number from 1 to 1000000"),
        ("- {from: beat.phase, to: /a, every: x}", "m:1:37: [0].every: \"x\" is not a whole number from 1 to 1000000"),
        ("- beat.phase", "m:1:3: [0]: \"beat.phase\" is not an entry; write {from: ANALYZER.FEATURE, to: DESTINATION}"),
        (
            "- {from: &a beat.phase, to: /a}",
            "m:1:10: anchors and aliases (&name, *name) are not supported; write the value itself, text in quotes"
        ),
    ])
    func `invalid map: one line that names place, problem and remedy`(text: String, line: String) {
        #expect(problems(text) == [line])
    }

    @Test func `several problems: all of them, in the order of the file`() {
        let lines = problems("- {from: beat.fase, to: a}\n- {from: levels.rms, to: b}")
        #expect(lines.map { $0.prefix(6) } == ["m:1:3:", "m:2:3:"])
    }

    @Test func `map beyond the limits: refused`() {
        let many = String(repeating: "- {from: beat.phase, to: a}\n", count: FieldMap.maxEntryCount + 1)
        #expect(problems(many) == ["m: the map has more than 1024 entries"])
        #expect(problems(String(repeating: "# \n", count: 100_000)) == ["m: the map has more than 256 KiB; name a map in YAML"])
        let long = String(repeating: "a", count: 256)
        #expect(problems("- {from: beat.phase, to: \(long)}") == ["m:1:26: [0].to: a destination has 1...255 bytes"])
    }

    @Test func `file that is missing, a folder or not UTF-8: an error that names it`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: Problem("\(folder("no.yaml")): No such file or directory", at: "map")) { try FieldMap.load(folder("no.yaml")) }
        #expect(throws: Problem("/dev/zero: not a regular file; name a map in YAML", at: "map")) { try FieldMap.load("/dev/zero") }
        try Data([0x2D, 0xFF]).write(to: URL(filePath: folder("bytes.yaml")))
        #expect(throws: Problem("\(folder("bytes.yaml")): not UTF-8 text", at: "map")) { try FieldMap.load(folder("bytes.yaml")) }
    }

    @Test func `name that is no built-in map: a suggestion`() {
        #expect(throws: Problem("there is no field map \"resolum\"; did you mean resolume?", at: "map")) { try FieldMap.load("resolum") }
    }

    @Test func `built-in maps: those of the folder, all valid`() throws {
        let folder = Repository.root.appending(path: "Libraries/CFieldMaps/Maps").path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(FieldMap.builtInNames().map { "\($0).yaml" } == files)
        for direction in [FieldMap.Direction.output, .input] {
            for name in FieldMap.builtInNames(direction) {
                #expect(try !FieldMap.load(name, direction).entries.isEmpty)
                #expect(try FieldMap.text(ofBuiltIn: name).text == String(contentsOfFile: "\(folder)/\(name).yaml", encoding: .utf8))
            }
        }
    }
}

extension ParameterValue {
    fileprivate var shown: String {
        switch self {
        case .none: "none"
        case .boolean(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .number(let number): "\(Float(number))"
        case .text(let text): text
        case .list(let items): "\(items)"
        }
    }
}
