internal import HemiolaRecords
internal import HemiolaSystem
internal import Synchronization

/// The file `.hemiola-results`: the fingerprints of results that have no header. A line is added when an input has ended, so that the file
/// is whole whenever the run is killed; the last line of an input counts. Thread-safe.
final class ResultList: Sendable {
    /// The name of the file in the folder of the results.
    private static let name = ".hemiola-results"

    private struct Entry {
        /// Empty: the result is not complete.
        var fingerprint: String
        var size: Int
    }

    private let file: LineFile
    private let entries: Mutex<[String: Entry]>

    /// Reads the file of an earlier run, or creates it.
    ///
    /// - Throws: The folder cannot be written.
    init(in folder: String) throws(Failure) {
        let path = "\(folder)/\(Self.name)"
        var lines = LineSplitter()
        if let size = try? FileSystem.status(of: path).size, let bytes = try? FileSystem.bytes(of: path, count: size) {
            lines.append(bytes)
        }
        var entries: [String: Entry] = [:]
        while let line = lines.next() {
            guard let record = try? JSONValue(line.bytes), let name = record["file"]?.string else { continue }
            entries[name] = Entry(fingerprint: record["fingerprint"]?.string ?? "", size: record["bytes"]?.integer ?? 0)
        }
        do {
            // Each input once: the file does not grow with the runs.
            let old = entries.sorted { $0.key < $1.key }.map { Self.line($0.key, $0.value) }
            try PartialFile.write(Array(old.joined()), to: path)
            file = try LineFile(creating: path, empties: false)
        } catch {
            throw Failure("cannot write \(path): \(error); choose another --output-dir", status: .outputFailed)
        }
        self.entries = Mutex(entries)
    }

    /// Whether the result of an input has this fingerprint and this size.
    func contains(_ name: String, _ fingerprint: String, size: Int) -> Bool {
        entries.withLock { $0[name] }.map { $0.fingerprint == fingerprint && $0.size == size } ?? false
    }

    /// Notes the result of an input. Where the disk is full, the input is analysed again by the next run.
    func set(_ name: String, _ fingerprint: String, size: Int) {
        let entry = Entry(fingerprint: fingerprint, size: size)
        entries.withLock { entries in
            entries[name] = entry
            try? file.append(Self.line(name, entry))
        }
    }

    private static func line(_ name: String, _ entry: Entry) -> [UInt8] {
        let record = JSONValue.object([
            .init("file", .text(name)), .init("fingerprint", .text(entry.fingerprint)), .init("bytes", .integer(entry.size)),
        ])
        return Array(record.line.utf8)
    }
}
