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

    private struct Entry {
        var number: Int
        var offset: Int
        var count: Int
    }

    private struct State {
        var file: LineFile?
        var entries: [Entry] = []
        var size = 0
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

    /// The number of failures.
    var count: Int { state.withLock { $0.entries.count } }

    /// Adds a failure.
    ///
    /// - Parameter number: The place of the input in the order of the run.
    func append(_ end: InputEnd, number: Int) {
        var buffer = JSONBuffer(capacity: 512)
        buffer.append(failure: end, isPartial: end.streamCount > 0)
        let line = buffer.withUnsafeBytes { Array($0) }
        state.withLock { state in
            do throws(SystemCallError) {
                let file = if let file = state.file { file } else { try LineFile(creating: path) }
                state.file = file
                try file.append(line)
                state.entries.append(Entry(number: number, offset: state.size, count: line.count))
                state.size += line.count
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
                let sorted = state.entries.sorted { $0.number < $1.number }
                guard zip(sorted, state.entries).contains(where: { $0.number != $1.number }) else { return }
                var records: [UInt8] = []
                for entry in sorted { records += try FileSystem.bytes(of: path, from: entry.offset, count: entry.count) }
                try PartialFile.write(records, to: path)
            }
        } catch {
            throw Failure("cannot sort \(path): \(error); it is complete", status: .outputFailed)
        }
    }
}
