internal import Synchronization

/// What all sinks of one run share: its start and its end, how results are kept, and objects that several sinks use. Thread-safe.
///
/// The pipeline makes one for each run. It lives as long as a sink of the run has it.
public final class RunScope: Sendable {
    /// The start of the run, in seconds since 1970. For the names of files; nothing that is analysed may depend on it.
    public let startTime: Int
    /// Whether files and their folders are synchronized with the disk when they are complete.
    public let syncsFiles: Bool
    /// Whether another program waits for the records of each input: an output of several inputs gets the record `failure` of an input
    /// without streams, and is flushed at the end of each input.
    public let answersInputs: Bool
    /// Whether the result of an interrupted input is kept, if it replaces no other; false: it is removed.
    public let keepsInterruptedResults: Bool
    /// Whether the run repeats an earlier one, from a recording or with its controls: it neither reads nor changes what the user's runs store.
    public let isReplay: Bool

    private let readIsComplete: @Sendable () -> Bool
    private let readIsStopping: @Sendable () -> Bool
    private let notePosition: @Sendable (Double) -> Void
    private let stop: @Sendable () -> Void
    /// By their types.
    private let objects = Mutex<[ObjectIdentifier: any Sendable]>([:])

    /// A scope; by default for tests, of a run that is complete.
    ///
    /// - Parameters:
    ///   - startTime: The start of the run, in seconds since 1970.
    ///   - syncsFiles: Whether complete files are synchronized with the disk.
    ///   - answersInputs: Whether another program waits for the records of each input.
    ///   - keepsInterruptedResults: Whether the result of an interrupted input is kept.
    ///   - isReplay: Whether the run replays a recording, or the controls of an earlier run.
    ///   - isComplete: Whether all inputs were taken to their ends.
    ///   - isStopping: Whether the run ends before.
    ///   - note: Notes how far a slow sink is.
    ///   - end: Ends the run in order.
    public init(
        startTime: Int = 0, syncsFiles: Bool = false, answersInputs: Bool = false, keepsInterruptedResults: Bool = true,
        isReplay: Bool = false, isComplete: @escaping @Sendable () -> Bool = { true },
        isStopping: @escaping @Sendable () -> Bool = { false },
        note: @escaping @Sendable (Double) -> Void = { _ in }, end: @escaping @Sendable () -> Void = {}
    ) {
        self.startTime = startTime
        self.syncsFiles = syncsFiles
        self.answersInputs = answersInputs
        self.keepsInterruptedResults = keepsInterruptedResults
        self.isReplay = isReplay
        readIsComplete = isComplete
        readIsStopping = isStopping
        notePosition = note
        stop = end
    }

    /// Whether all inputs were taken to their ends, or as far as they could be read. Final when the sink is closed; false then if the run
    /// was stopped before.
    public var isComplete: Bool { readIsComplete() }

    /// Whether the run is to end before its inputs do, such as after Ctrl-C. A sink that needs long for a batch leaves out the rest then.
    public var isStopping: Bool { readIsStopping() }

    /// Notes how far a sink is that takes longer than the analysis. The progress of the run is that of this sink then.
    ///
    /// - Parameter seconds: Stream time.
    public func note(seconds: Double) { notePosition(seconds) }

    /// Ends the run in order, as `Pipeline.stop()` does, because a client requested it.
    public func end() { stop() }

    /// The object of a type that the sinks of this run share. The scope keeps it: an object that must end before the run counts its users.
    ///
    /// - Parameters:
    ///   - type: Its type. The scope has one object of each.
    ///   - make: Makes the object when the first sink asks for it. Others wait meanwhile; it must not use the scope.
    public func shared<Value: Sendable, Failure: Error>(
        _ type: Value.Type, orMake make: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try objects.withLock { objects throws(Failure) in
            if let object = objects[ObjectIdentifier(type)] as? Value { return object }
            let object = try make()
            objects[ObjectIdentifier(type)] = object
            return object
        }
    }
}
