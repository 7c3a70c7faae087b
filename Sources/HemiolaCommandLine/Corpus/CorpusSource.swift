internal import Hemiola
internal import HemiolaEngine
internal import Synchronization

/// The inputs of a run with one result per input, which its jobs share. Skips inputs whose result is current, and collects
/// failures. Thread-safe.
final class CorpusSource: InputSource {
    /// How far the run is.
    struct Counts: Sendable, Hashable {
        /// Inputs; nil: the folders are still being read.
        var total: Int?
        /// Inputs whose result was written.
        var analyzed = 0
        var skipped = 0
        var failed = 0

        /// Inputs that need no more work.
        var done: Int { analyzed + skipped + failed }
    }

    /// Bytes of the longest file name on Linux.
    private static let longestName = 255

    private struct Walk {
        var inputs: CorpusInputs
        var number = 0
    }

    let results = ResultForm.filePerInput
    /// Why there are no inputs, where there are none.
    let emptyText: String

    private let folder: String
    private let ending: String
    private let check: ResultCheck
    private let resumes: Bool
    private let spec: @Sendable (String) throws(Failure) -> PluginSpec
    private let failures: FailureList
    private let report: @Sendable (String) -> Void
    private let walk: Mutex<Walk>
    private let state: Mutex<Counts>
    private let isCancelled = Atomic<Bool>(false)

    /// - Parameters:
    ///   - inputs: The inputs.
    ///   - folder: The folder of the results.
    ///   - ending: The extension of the results.
    ///   - check: Finds results to keep.
    ///   - resumes: Whether they are kept; false: all inputs are analysed.
    ///   - failures: Receives the inputs that fail.
    ///   - spec: Makes the capture of an input.
    ///   - report: Receives the message of a failure that no pipeline reports.
    init(
        _ inputs: CorpusInputs, folder: String, ending: String, check: ResultCheck, resumes: Bool, failures: FailureList,
        spec: @escaping @Sendable (String) throws(Failure) -> PluginSpec, report: @escaping @Sendable (String) -> Void
    ) {
        self.folder = folder
        emptyText = inputs.emptyText
        self.ending = "." + ending
        self.check = check
        self.resumes = resumes
        self.failures = failures
        self.spec = spec
        self.report = report
        walk = Mutex(Walk(inputs: inputs))
        state = Mutex(Counts(total: inputs.count))
        // Without a thread the total stays unknown, and with it the time that is left.
        if inputs.count == nil { try? startThread(for: "the count of the inputs") { [self] in count(inputs) } }
    }

    /// How far the run is.
    var counts: Counts { state.withLock { $0 } }

    /// Counts the inputs, so that the time left is known, while the first of them are analysed.
    private func count(_ inputs: CorpusInputs) {
        var inputs = inputs
        var count = 0
        while inputs.next() != nil {
            if isCancelled.load(ordering: .relaxed) { return }
            count += 1
        }
        state.withLock { $0.total = count }
    }

    func next() -> SourceInput? {
        while !isCancelled.load(ordering: .acquiring) {
            let (item, number) = walk.withLock { walk in
                defer { walk.number += 1 }
                return (walk.inputs.next(), walk.number)
            }
            switch item {
            case nil:
                return nil
            case .failure(let path, let problem):
                fail(path, problem.message, number)
            case .file(let path, let relative):
                // Before the file is read: a change meanwhile shows the next time.
                let fingerprint = check.fingerprint(of: path)
                if let problem = problem(of: relative) {
                    fail(path, "\(PathText.shown(path).onOneLine): \(problem)", number)
                } else if resumes, check.isCurrent("\(folder)/\(result(of: relative))", of: relative, fingerprint) {
                    state.withLock { $0.skipped += 1 }
                } else {
                    do {
                        return SourceInput(number: number, capture: try spec(path), relativePath: relative, fingerprint: fingerprint)
                    } catch {
                        fail(path, error.lines.joined(separator: "; "), number)
                    }
                }
            }
        }
        return nil
    }

    func cancel() {
        isCancelled.store(true, ordering: .releasing)
    }

    func inputEnded(_ input: SourceInput, _ end: InputEnd) {
        if end.wasInterrupted { return }
        if let name = input.relativePath {
            check.note("\(folder)/\(result(of: name))", of: name, end.error == nil ? input.fingerprint : nil)
        }
        guard end.error != nil else { return state.withLock { $0.analyzed += 1 } }
        failures.append(end, number: input.number)
        state.withLock { $0.failed += 1 }
    }

    /// - Parameter message: One line that names the path.
    private func fail(_ path: String, _ message: String, _ number: Int) {
        let end = InputEnd(
            file: PathText.shown(path), fileBytes: PathText.nonUTF8Bytes(of: path), error: message, streamCount: 0)
        failures.append(end, number: number)
        state.withLock { $0.failed += 1 }
        report(message)
    }

    /// The path of a result below the folder.
    private func result(of relative: String) -> String { PathText.portable(relative) + ending }

    /// Why there cannot be a result at the place of an input; nil: there can.
    private func problem(of relative: String) -> String? {
        let name = (relative.split(separator: "/").last.map(String.init) ?? "") + ending
        if PathText.portable(name).utf8.count > Self.longestName {
            return "the name of its result would be longer than \(Self.longestName) bytes; rename the file"
        }
        if relative + ending == FailureList.name { return "the name of its result would be that of the list of failures; rename the file" }
        return nil
    }
}
