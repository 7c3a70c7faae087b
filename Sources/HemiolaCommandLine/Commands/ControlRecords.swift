internal import ArgumentParser
internal import FoundationEssentials
internal import HemiolaEngine
internal import HemiolaSignal
internal import HemiolaWire

/// `--controls`: control messages to replay.
struct ReplayOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Replay the control records of this JSON Lines file, each in the batch that contains its frame. Other records are ignored.",
            valueName: "records"),
        completion: .file())
    var controls: String?

    /// - Parameter catalog: The controls that the program declares.
    /// - Returns: The controls of the file; none where no file is named.
    func read(_ catalog: RecordCatalog) throws(Failure) -> ControlReplay {
        guard let controls else { return ControlReplay() }
        let bytes: [UInt8]
        do {
            bytes = try System.contents(of: controls)
        } catch {
            throw Failure("--controls: cannot read \(System.title(of: controls)): \(error)")
        }
        return try ControlRecords.parse(bytes, title: System.title(of: controls), catalog)
    }
}

/// Reads `control` records from JSON Lines that Hemiola wrote.
enum ControlRecords {
    /// - Throws: The first line that is not a record, or whose control is not declared or invalid, with its line number.
    static func parse(_ bytes: [UInt8], title: String, _ catalog: RecordCatalog) throws(Failure) -> ControlReplay {
        var replay = ControlReplay()
        for (index, line) in bytes.withoutByteOrderMark.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\t") }) { continue }
            if isObviouslyOther(line) { continue }
            do throws(Fault) {
                guard let record = try record(line, catalog) else { continue }
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

    /// Whether a line is a record of another type. Avoids decoding the batches, which are most lines of a recording.
    private static func isObviouslyOther(_ line: ArraySlice<UInt8>) -> Bool {
        let start = Array(#"{"type":""#.utf8)
        return line.starts(with: start) && line.last == UInt8(ascii: "}")
            && !line.dropFirst(start.count).starts(with: Array("control\"".utf8))
    }

    private static func record(_ line: ArraySlice<UInt8>, _ catalog: RecordCatalog) throws(Fault) -> ControlRecord? {
        do {
            guard try JSONDecoder().decode(TypeOnly.self, from: Data(line)).type == "control" else { return nil }
            let decoder = JSONDecoder()
            decoder.userInfo[.catalog] = catalog
            return try decoder.decode(ControlRecord.self, from: Data(line))
        } catch let error as DecodingError {
            throw Fault(message: text(error))
        } catch {
            throw Fault(message: "not a JSON record")
        }
    }

    private static func text(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "the record has no \"\(key.stringValue)\""
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.isEmpty
                ? "not a JSON record" : "\"\(context.codingPath.map(\.stringValue).joined(separator: "."))\" has another type"
        default: "not a JSON record"
        }
    }

    private struct TypeOnly: Decodable {
        var type: String
    }
}

private struct ControlRecord: Decodable {
    var frame: Int64
    var from: String?
    /// The input of the record, in a recording of several inputs.
    var file: String?
    var control: Result<Control, ControlFault>

    private enum CodingKeys: String, CodingKey {
        case frame, control, from, file
    }

    init(from decoder: any Decoder) throws {
        let record = try decoder.container(keyedBy: CodingKeys.self)
        frame = try record.decode(Int64.self, forKey: .frame)
        let name = try record.decode(String.self, forKey: .control)
        from = try record.decodeIfPresent(String.self, forKey: .from)
        file = try record.decodeIfPresent(String.self, forKey: .file)
        let catalog = decoder.userInfo[.catalog] as? RecordCatalog ?? .standard
        control =
            if let type = catalog.control(name) {
                try ControlDecoder.control(type, from: decoder)
            } else {
                .failure(ControlFault(message: "unknown control \"\(name)\""))
            }
    }

    func stamped() throws(ControlRecords.Fault) -> StampedControl {
        guard frame >= 0 else { throw ControlRecords.Fault(message: "\"frame\" is \(frame), which is negative") }
        do throws(ControlFault) {
            return StampedControl(try control.get(), at: frame, from: from ?? "controls")
        } catch {
            throw ControlRecords.Fault(message: error.message)
        }
    }
}

extension CodingUserInfoKey {
    /// The declarations that records are decoded with: a `RecordCatalog`.
    fileprivate static let catalog = CodingUserInfoKey(rawValue: "catalog")!
}

extension System {
    /// The name of an input in messages: the path, or `standard input` for `-`.
    static func title(of path: String) -> String {
        path == "-" ? "standard input" : path
    }
}
