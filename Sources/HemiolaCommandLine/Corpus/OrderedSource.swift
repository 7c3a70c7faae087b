internal import Hemiola
internal import HemiolaEngine
internal import Synchronization

/// The inputs of a run with one output: files and the files of folders, then the names that arrive on standard input.
///
/// `@unchecked Sendable`: `next` is called by one thread at a time; `cancel` uses the atomic and the wake-up only.
final class OrderedSource: InputSource, @unchecked Sendable {
    let results = ResultForm.sharedOutput

    private let spec: @Sendable (String) throws(Failure) -> PluginSpec
    private let hasFolders: Bool
    private let wakeUp: WakeUp
    private let isCancelled = Atomic<Bool>(false)
    private let problem = Mutex<Failure?>(nil)
    private var inputs: CorpusInputs
    /// nil: no names follow on standard input.
    private var list: FileList?
    private var number = 0

    /// - Parameters:
    ///   - inputs: Files and folders.
    ///   - readsList: Whether names follow on standard input.
    ///   - isNullSeparated: Whether NUL ends a name of the list.
    ///   - spec: Makes the capture of a file.
    init(
        _ inputs: CorpusInputs, readsList: Bool, isNullSeparated: Bool, spec: @escaping @Sendable (String) throws(Failure) -> PluginSpec
    ) throws(Failure) {
        do { wakeUp = try WakeUp() } catch {
            throw Failure("cannot create a pipe: \(error); raise the limit on open files: ulimit -n")
        }
        self.inputs = inputs
        self.spec = spec
        hasFolders = inputs.count == nil
        if readsList { list = try FileList("-", isNullSeparated: isNullSeparated, wakeUp: wakeUp) }
    }

    /// Why the inputs ended early; nil: they did not.
    var failure: Failure? { problem.withLock { $0 } }

    func next() -> SourceInput? {
        guard !isCancelled.load(ordering: .acquiring) else { return nil }
        switch inputs.next() {
        case .file(let path, _): return input(path)
        case .failure(let path, let problem): return input(path, problem)
        case nil: break
        }
        guard list != nil else {
            if number == 0, hasFolders { problem.withLock { $0 = Failure(inputs.emptyText, status: .inputFailed) } }
            return nil
        }
        do {
            guard let name = try list?.next(), !isCancelled.load(ordering: .acquiring) else { return nil }
            if name == "-" { return input(name, Problem("-: standard input is the list of names; write the sound into a file")) }
            return input(name)
        } catch {
            problem.withLock { $0 = error }
            isCancelled.store(true, ordering: .releasing)
            return nil
        }
    }

    private func input(_ path: String, _ error: Problem? = nil) -> SourceInput {
        defer { number += 1 }
        do {
            return SourceInput(number: number, capture: try spec(path), error: error)
        } catch let failure {
            return SourceInput(
                number: number, capture: PluginSpec("file", primary: .text(path)),
                error: Problem(failure.lines.joined(separator: "; ")))
        }
    }

    func cancel() {
        isCancelled.store(true, ordering: .releasing)
        wakeUp.signal()
    }
}
