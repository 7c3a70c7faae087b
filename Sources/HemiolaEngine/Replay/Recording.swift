public import Hemiola
internal import Synchronization

/// Recorded records, opened for a replay: JSON Lines that Hemiola wrote, plain or compressed with zstd, with one or more streams.
///
/// It is read in order, once, in bounded memory, so that a pipe can be replayed too.
public final class Recording: Sendable {
    /// The path as people read it; `standard input` for `-`.
    public let name: String
    /// The path; `-` is standard input.
    let path: String
    /// The header of the first stream.
    public let header: StreamHeader
    private let reader: Mutex<RecordingReader?>

    /// Opens a recording and waits for its first header.
    ///
    /// - Parameters:
    ///   - path: The path; `-` is standard input.
    ///   - registry: The plugins of the program, which declare the types of records and the live captures.
    /// - Throws: The file cannot be read, or does not begin with a header.
    public init(_ path: String, _ registry: PluginRegistry) throws(Problem) {
        let liveCaptures = registry.captures.filter { $0.devices != nil }.map(\.about.id) + [registry.liveCapture?.id].compactMap(\.self)
        let reader = try RecordingReader(path, catalog: registry.catalog, liveCaptures: Set(liveCaptures))
        name = reader.name
        self.path = path
        while true {
            switch try reader.next() {
            case .idle: continue
            case .record(.header(let header), _):
                self.header = header
                reader.putBack(header)
                self.reader = Mutex(reader)
                return
            case .record, .end:
                throw Problem("\(reader.name): no records; a recording is the output of hemiola analyze or listen")
            }
        }
    }

    /// Takes the reader. Call once.
    func take() -> sending RecordingReader {
        reader.withLock { reader -> sending RecordingReader? in
            let taken = reader
            reader = nil
            return taken
        }!
    }
}

/// An analyzer whose outputs a sink needs in a recording.
struct RecordedNeed: Sendable {
    var sink: String
    var analyzer: PluginSpec
    /// The value of each setting that the sink requires.
    var settings: [(key: String, value: ParameterValue)]
    /// The features that the sink's director reads.
    var features: [String]
    /// The event types of the analyzer that the sink reads.
    var events: [String]

    /// Why a stream does not meet the need; nil if it does.
    func fault(in header: StreamHeader) -> String? {
        let found = header.analyzers.first { $0.name == analyzer.analyzerName && $0.id == analyzer.id }
        let hasSettings = found.map { found in
            settings.allSatisfy { setting in found.parameters.contains { $0.key == setting.key && $0.value == setting.value } }
        }
        guard let found, hasSettings == true else {
            return "it needs the analyzer \(text), which the recording does not have; record it again with --analyzer +\(text)"
        }
        let left = features.filter { name in !found.outputs.features.contains { $0.name == name } }.map { "\(analyzer.analyzerName).\($0)" }
        let missing = events.filter { event in !header.analyzers.contains { $0.outputs.events.contains { $0.name == event } } }
        guard let first = left.first ?? missing.first.map({ "\($0) records" }) else { return nil }
        return "it needs \(first), which the selection of the recording left out; record it again without --select"
    }

    /// The analyzer in the syntax of a SPEC.
    private var text: String {
        let items = (analyzer.alias.map { ["as=\($0)"] } ?? []) + settings.map { "\($0.key)=\($0.value.text)" }
        return items.isEmpty ? analyzer.id : "\(analyzer.id):\(items.joined(separator: ","))"
    }
}
