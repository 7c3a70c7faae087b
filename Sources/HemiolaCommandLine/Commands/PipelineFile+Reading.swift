internal import Hemiola
internal import HemiolaEngine

// Errors are lines of the form `pipeline.yaml:7:5: sinks[1].period_s: …`, in the order of the file, so that they can be fixed from top to
// bottom.

extension PipelineFile {
    /// The largest pipeline file, in bytes.
    private static let maxByteCount = 8 << 20

    /// Reads a pipeline file and checks it.
    ///
    /// - Throws: One line per error.
    init(at path: String, _ registry: PluginRegistry) throws(Failure) {
        let title = CommandInput.title(of: path)
        try self.init(checking: try Self.text(at: path, title: title), title: title, registry)
    }

    /// Reads a file's text and checks the plugins and their settings, by building the pipeline once.
    ///
    /// - Parameter title: The name of the file in messages.
    /// - Throws: One line per error.
    init(checking text: String, kind: Kind = .pipeline, title: String, _ registry: PluginRegistry) throws(Failure) {
        do {
            try self.init(text, kind: kind, registry: registry)
        } catch {
            throw Failure(Self.line(title, error.place?.position, error.message))
        }
        if let problem = versionProblem { throw Failure(Self.line(title, position(of: problem.place), problem.description)) }
        var problems = problems
        do {
            _ = try registry.assemble(configuration)
        } catch {
            problems += error.all.compactMap(located)
        }
        guard !problems.isEmpty else { return }
        let lines = problems.map { (position: position(of: $0.place), text: $0.description) }
        let order = lines.indices.sorted { one, other in
            let (first, second) = (lines[one].position, lines[other].position)
            return (first?.line ?? .max, first?.column ?? .max, one) < (second?.line ?? .max, second?.column ?? .max, other)
        }
        throw Failure(order.map { Self.line(title, lines[$0].position, lines[$0].text) })
    }

    /// The text of a pipeline file.
    ///
    /// - Parameter path: `-` is standard input.
    static func text(at path: String, title: String) throws(Failure) -> String {
        // One byte above the limit is enough to detect a file that is too large.
        let bytes: [UInt8]
        do { bytes = try CommandInput.bytes(of: path, atMost: maxByteCount + 1) } catch {
            throw Failure("cannot read \(title): \(error)")
        }
        guard bytes.count <= maxByteCount else {
            throw Failure("\(title): the file has more than \(maxByteCount >> 20) MiB; name a pipeline file in YAML")
        }
        return try text(of: bytes, title: title)
    }

    static func text(of bytes: [UInt8], title: String) throws(Failure) -> String {
        guard let text = String(validating: bytes.withoutByteOrderMark, as: UTF8.self) else { throw Failure("\(title): not UTF-8 text") }
        return text
    }

    private static func line(_ title: String, _ position: TextPosition?, _ message: String) -> String {
        "\(title)\(position.map { ":\($0)" } ?? ""): \(message)"
    }
}
