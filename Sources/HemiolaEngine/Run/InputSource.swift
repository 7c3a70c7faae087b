public import Hemiola

/// Supplies the inputs of pipelines while they run: paths that arrive on a pipe, or the files of a folder.
///
/// Thread-safe: the jobs of a pipeline share its source, and each input goes to one of them.
public protocol InputSource: Sendable {
    /// The form of the results.
    var results: ResultForm { get }

    /// The next input; nil: there is none, or the source was cancelled. May block until an input arrives.
    ///
    /// Called on the threads of the jobs: by one at a time if they share an output, and the order of the inputs is that of its records.
    func next() -> SourceInput?

    /// Ends the source: a blocked `next` returns nil, and so do all later calls.
    func cancel()

    /// Receives the end of an input when the sinks have written its last records, on any thread. The error of the end says why the input
    /// failed, or why its result cannot be written. Not called for inputs that a sink has not written because it failed for good.
    func inputEnded(_ input: SourceInput, _ end: InputEnd)
}

extension InputSource {
    /// Does nothing.
    public func inputEnded(_ input: SourceInput, _ end: InputEnd) {}
}

/// The form of the results of an ``InputSource``.
public enum ResultForm: Sendable, Hashable {
    /// One output of all inputs, in their order, which another program may read meanwhile: every line names its file, an input without
    /// streams has a record `failure`, and the output is flushed at the end of each input.
    case sharedOutput
    /// A file per input, which names no file in its lines. The file of an interrupted input is removed. Each job has sinks of its own.
    case filePerInput
}

/// An input as an ``InputSource`` or a configuration names it.
public struct SourceInput: Sendable {
    /// Its place in the order of the source, 0….
    public var number: Int
    /// The capture, whose primary setting is the path.
    public var capture: PluginSpec
    /// The path below the folder that is analysed, for the paths of outputs; nil: the path itself.
    public var relativePath: String?
    /// Identifies what determines the result, for the header; nil: headers have no fingerprint.
    public var fingerprint: String?
    /// Why the input cannot be analysed, where that is known before it is opened.
    public var error: Problem?

    /// An input; by default one that can be opened.
    public init(
        number: Int, capture: PluginSpec, relativePath: String? = nil, fingerprint: String? = nil, error: Problem? = nil
    ) {
        self.number = number
        self.capture = capture
        self.relativePath = relativePath
        self.fingerprint = fingerprint
        self.error = error
    }
}
