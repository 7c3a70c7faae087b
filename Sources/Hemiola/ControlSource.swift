public import HemiolaRecords
public import HemiolaSystem
internal import Synchronization

/// Reads messages of a device or of the network, and submits controls.
///
/// A control source has one owner at a time, and needs no lock: `run` has a thread of its own, which starts after `open` and has ended
/// before `close`. A source that compares its device with the stream, in step with it, is a ``StreamFollower`` instead.
///
/// Lifecycle: make → (`open` → `run` → `close`), again when the pipeline opens it again.
public protocol ControlSource: AnyObject {
    /// Opens the device or the socket. A source that throws here is not closed: it leaves nothing behind.
    func open(_ input: ControlInput) throws(Problem)
    /// Reads and submits until a `wait` of the input returns false. May block there only. What goes wrong is reported by `warn`.
    func run(_ input: ControlInput)
    /// Closes what `open` has opened.
    func close()
}

/// A control source that follows the stream: it reads its device in step with the batches, and has no thread of its own.
///
/// A follower has one owner at a time, and needs no lock. It may block without delaying the analysis. What goes wrong is reported by `warn`.
///
/// Lifecycle: make → (`open` → (`begin` → `write` … → `end`) per stream → `close`), again when the pipeline opens it again.
public protocol StreamFollower: AnyObject {
    /// Opens the device or the socket. A follower that throws here is not closed: it leaves nothing behind.
    func open(_ input: ControlInput) throws(Problem)
    /// A stream begins: once per file, and again when a live format changes.
    func begin(_ stream: StreamHeader)
    /// Consecutive batches of the stream, with the events that the plugin declares.
    func write(_ batches: BatchBlock)
    /// The stream is over.
    func end(_ summary: StreamSummary)
    /// Closes what `open` has opened, and releases the input.
    func close()
}

/// Where a control source submits its controls, and how it waits for messages. Thread-safe.
public final class ControlInput: Sendable {
    /// Its name in the pipeline, the declared controls (`records.catalog`), the clock (`timing.clock`), and `messages`.
    public let context: SinkContext
    private let wakeUp: WakeUp
    private let isStopped = Atomic(false)
    /// Keys of the warnings that were given.
    private let given = Mutex<Set<String>>([])

    /// The input of a source; also for a sink that submits controls beside its batches.
    ///
    /// - Throws: No file descriptor is left.
    public init(_ context: SinkContext) throws(Problem) {
        self.context = context
        do { wakeUp = try WakeUp() } catch {
            throw Problem("\(context.name): cannot create a pipe: \(error); raise the limit on open files: ulimit -n")
        }
    }

    /// Submits a control. Never blocks. The first refusal of each control is reported.
    public func submit(_ control: Control) {
        context.controls.submit(control, from: context.name) { [self] reply in
            if case .refused(let reason) = reply { warn("\(control.name): \(reason)", once: control.name) }
        }
    }

    /// Prints the source's name and a warning.
    ///
    /// - Parameter key: What the warning is about, such as a control or an address: later warnings with the same key are not printed.
    ///   The number of keys must be bounded.
    public func warn(_ text: String, once key: String) {
        if given.withLock({ $0.insert(key).inserted }) { context.messages.warn("\(context.name): \(text)") }
    }

    /// Waits until a descriptor can be read without blocking, has an error, or was closed by the peer.
    ///
    /// - Returns: false: the source is being closed, and `run` must return.
    public func wait(for descriptor: Int32) -> Bool { wait(nil, descriptor) }

    /// Waits for some seconds, such as before the next attempt to connect.
    ///
    /// - Returns: false: the source is being closed, and `run` must return.
    public func wait(seconds: Double) -> Bool { wait(seconds, nil) }

    private func wait(_ seconds: Double?, _ descriptor: Int32?) -> Bool {
        if !isStopped.load(ordering: .acquiring) { wakeUp.wait(seconds: seconds, for: descriptor) }
        return !isStopped.load(ordering: .acquiring)
    }

    /// Ends the current and all later waits.
    fileprivate func stop() {
        isStopped.store(true, ordering: .releasing)
        wakeUp.signal()
    }
}

/// A kind of control source. A file is paced to real time for it.
public struct ControlPlugin: Plugin {
    /// How the engine runs it: as a sink that writes nothing.
    package let sink: SinkPlugin

    public var about: PluginDescription { sink.about }

    /// A kind of control source with a thread of its own, and how one is made.
    ///
    /// - Parameters:
    ///   - about: What it says about itself.
    ///   - settings: The type of its settings; `NoSettings.self`: there are none.
    ///   - make: Checks the settings; opens nothing.
    public init<Settings: PluginSettings>(
        _ about: PluginDescription, settings: Settings.Type, make: @escaping @Sendable (Settings) throws(Problem) -> any ControlSource
    ) {
        sink = SinkPlugin(
            about, settings: settings, needs: { _ in SinkPlugin.Needs(realTime: true) },
            make: { settings throws(Problem) in ControlSourceSink(try make(settings)) })
    }

    /// A kind of control source that follows the stream, and how one is made.
    ///
    /// - Parameters:
    ///   - about: What it says about itself.
    ///   - settings: The type of its settings; `NoSettings.self`: there are none.
    ///   - analyzers: Analyzers that must run; those that are missing are added.
    ///   - events: The record types that it reads.
    ///   - make: Checks the settings; opens nothing.
    public init<Settings: PluginSettings>(
        _ about: PluginDescription, settings: Settings.Type, analyzers: [PluginSpec], events: [RecordType],
        make: @escaping @Sendable (Settings) throws(Problem) -> any StreamFollower
    ) {
        sink = SinkPlugin(
            about, settings: settings,
            needs: { _ in SinkPlugin.Needs(analyzers: analyzers, realTime: true, events: events) },
            make: { settings throws(Problem) in StreamFollowerSink(try make(settings)) })
    }
}

/// A control source with a thread, as the engine knows it.
private final class ControlSourceSink: Sink {
    private let source: any ControlSource
    private var running: (input: ControlInput, thread: WorkerThread<Void>)?

    init(_ source: any ControlSource) {
        self.source = source
    }

    func open(_ context: SinkContext) throws(Problem) {
        let input = try ControlInput(context)
        try source.open(input)
        // The thread has the source until `close` has joined it.
        nonisolated(unsafe) let source = source
        do {
            running = (input, try WorkerThread<Void>(for: "the control source \(context.name)") { source.run(input) })
        } catch {
            source.close()
            throw error
        }
    }

    func begin(_ stream: StreamHeader) {}
    func write(_ batches: BatchBlock) {}
    func end(_ summary: StreamSummary) {}

    func close() {
        guard let (input, thread) = running else { return }
        input.stop()
        thread.join()
        source.close()
        running = nil
    }
}

/// A follower as the engine knows it.
private final class StreamFollowerSink: Sink {
    private let follower: any StreamFollower

    init(_ follower: any StreamFollower) {
        self.follower = follower
    }

    func open(_ context: SinkContext) throws(Problem) { try follower.open(try ControlInput(context)) }
    func begin(_ stream: StreamHeader) { follower.begin(stream) }
    func write(_ batches: BatchBlock) { follower.write(batches) }
    func end(_ summary: StreamSummary) { follower.end(summary) }
    func close() { follower.close() }
}
