internal import HemiolaRecords
internal import HemiolaSystem
internal import Synchronization

/// The file `failures.jsonl`: one record per input that failed, or was incomplete or damaged, in the order of the inputs.
///
/// During the run, a record is added by one write as soon as the input ends, so that the file is whole whenever the run is killed. At the
/// end the records are sorted. Without failures there is no file. Thread-safe.
final class FailureList: Sendable {
    /// The name of the file in the folder of the results.
    static let name = "failures.jsonl"

    private struct State {
        var file: LineFile?
        /// The records that were written, with the numbers of their inputs.
        var records: [(number: Int, line: [UInt8])] = []
        /// Why a record could not be written, and how many could not.
        var error: SystemCallError?
        var missing = 0
    }

    let path: String
    private let state = Mutex(State())

    /// Removes the list of an earlier run.
    init(in folder: String) {
        path = "\(folder)/\(Self.name)"
        FileSystem.remove(path)
    }

    /// Adds a failure.
    ///
    /// - Parameter number: The place of the input in the order of the run.
    func append(_ end: InputEnd, number: Int) {
        var buffer = JSONBuffer(capacity: 512)
        buffer.append(failure: end, isPartial: end.streamCount > 0)
        let line = buffer.bytes
        state.withLock { state in
            do throws(SystemCallError) {
                let file = if let file = state.file { file } else { try LineFile(creating: path) }
                state.file = file
                try file.append(line)
                state.records.append((number, line))
            } catch {
                state.error = error
                state.missing += 1
            }
        }
    }

    /// Sorts the records by the order of the inputs.
    ///
    /// - Throws: A record could not be written.
    func finish() throws(Failure) {
        let (error, missing) = state.withLock { state in
            state.file = nil
            return (state.error, state.missing)
        }
        if let error {
            let failures = missing == 1 ? "1 failure is" : "\(missing) failures are"
            throw Failure("cannot write \(path): \(error); \(failures) only in the messages above", status: .outputFailed)
        }
        do {
            try state.withLock { state throws(SystemCallError) in
                let sorted = state.records.sorted { $0.number < $1.number }
                if sorted.map(\.number) != state.records.map(\.number) { try PartialFile.write(sorted.flatMap(\.line), to: path) }
            }
        } catch {
            throw Failure("cannot sort \(path): \(error); it is complete", status: .outputFailed)
        }
    }
}
