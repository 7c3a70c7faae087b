public import HemiolaSignal
package import HemiolaSystem

/// Everything that makes a pipeline, as a value: what the command line and a pipeline file are read into.
public struct PipelineConfiguration: Sendable, Hashable {
    /// One stream each, in this order.
    public var captures: [PluginSpec]
    /// Why an input cannot be opened, by the path of its capture, where that is known before the run: it fails, and has no result.
    package var faults: [String: Problem] = [:]
    /// The analyzers, in this order. Those that a sink needs are added, and settings that it needs where they are left out.
    public var analyzers: [PluginSpec]
    /// Where the batches go.
    public var sinks: [PluginSpec]
    /// Where controls come from.
    public var controls: [PluginSpec]
    /// Frames per batch: 256…8192, above 1024 a multiple of 256.
    public var batchFrames: Int
    /// Frames per second requested from a live capture; 0: the rate of the device, also when that changes; nil: the default rate of
    /// the sound server.
    public var sampleRate: Int?
    /// Whether a file is paced to real time.
    public var isPaced: Bool
    /// Whether a FIFO is waited for when its writer closes it, instead of ending its stream.
    public var waitsForWriters = false
    /// Whether analyzers that support look-ahead process the whole input in a first pass: always, never, or (nil) if the input can be read
    /// twice, its format does not change, and neither pacing, a sink nor replayed controls tie the results to the passing time.
    public var usesLookAhead: Bool?
    /// Seconds of audio after which an input ends, at the end of a batch; nil: where it ends itself.
    public var duration: Double?
    /// The seed of all random numbers; nil: 0, for a live capture a new one in every run. Part of the header.
    public var seed: UInt64?
    /// How many files may be analysed at a time. The sinks get them in order all the same; live, paced to real time or with a
    /// sink that directs, it is one.
    public var jobCount: Int
    /// Record types and features for sinks that have no `select` of their own; empty: everything.
    public var selection: [String]
    /// Whether files and their folders are synchronized with the disk when they are complete.
    public var syncsFiles: Bool

    /// A configuration with the command line's defaults for what is left out. Nothing is checked before it is assembled.
    public init(
        captures: [PluginSpec] = [], analyzers: [PluginSpec] = [], sinks: [PluginSpec] = [], controls: [PluginSpec] = [],
        batchFrames: Int = Batching.defaultFrames, sampleRate: Int? = nil, isPaced: Bool = false, usesLookAhead: Bool? = nil,
        seed: UInt64? = nil, jobCount: Int = 1, selection: [String] = [], syncsFiles: Bool = false
    ) {
        self.captures = captures
        self.analyzers = analyzers
        self.sinks = sinks
        self.controls = controls
        self.batchFrames = batchFrames
        self.sampleRate = sampleRate
        self.isPaced = isPaced
        self.usesLookAhead = usesLookAhead
        self.seed = seed
        self.jobCount = jobCount
        self.selection = selection
        self.syncsFiles = syncsFiles
    }
}
