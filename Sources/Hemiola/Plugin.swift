public import HemiolaRecords
public import HemiolaSystem

/// What a plugin says about itself, written once in its initialiser.
///
/// A plugin that is not named takes almost no time: its settings and libraries are declared when they are needed.
public struct PluginDescription: Sendable {
    /// The types that a plugin adds to those of the plugin API, and its other ids.
    public struct Declarations: Sendable {
        fileprivate let records: [RecordType]
        fileprivate let controls: [ControlType]
        fileprivate let fallbackControls: [ControlType]
        fileprivate let aliases: [String: [String: ParameterValue]]

        /// Nothing, and what is named.
        ///
        /// - Parameters:
        ///   - records: The record types that its analyzer or director emits.
        ///   - controls: The controls that its analyzer or director handles; that is a ``ControlHandler`` then.
        ///   - fallbackControls: The controls that its director handles when no other plugin of the pipeline declares them in `controls`.
        ///   - aliases: Other ids that a SPEC may have, each with the settings that it stands for.
        public init(
            records: [RecordType] = [], controls: [ControlType] = [], fallbackControls: [ControlType] = [],
            aliases: [String: [String: ParameterValue]] = [:]
        ) {
            self.records = records
            self.controls = controls
            self.fallbackControls = fallbackControls
            self.aliases = aliases
        }
    }

    /// What a plugin uses outside the program.
    public struct Uses: Sendable {
        /// It sends to other computers, or can be reached by them; it calls no shared libraries.
        public static let network = Uses(network: true)

        fileprivate let libraries: @Sendable () -> [SharedLibrary]
        fileprivate let network: Bool

        /// Nothing, and what is named.
        ///
        /// - Parameters:
        ///   - libraries: The shared libraries that it calls. Evaluated whenever they are needed.
        ///   - network: Whether it sends to other computers, or can be reached by them.
        public init(libraries: @escaping @autoclosure @Sendable () -> [SharedLibrary] = [], network: Bool = false) {
            self.libraries = libraries
            self.network = network
        }
    }

    /// Kebab-case noun, stable for ever: `json-lines`.
    public var id: String
    /// One sentence for people.
    public var summary: String
    /// The setting that the first item without `=` of a SPEC stands for.
    public var primary: String?
    /// Raised when the outputs' meaning changes. A pipeline can require one (`min_version`).
    public var version: Int
    private let declares: Declarations
    private let uses: Uses
    private var declareSettings: @Sendable () -> [Field] = { [] }

    /// A plugin without settings: the plugin's initialiser adds them.
    ///
    /// - Parameters:
    ///   - id: Kebab-case noun, stable for ever. In a pipeline a control source is called `ID-control`, unless the SPEC has `as=NAME`.
    ///   - summary: One sentence for people.
    ///   - primary: The key that the first item without `=` of a SPEC stands for.
    ///   - version: Raised when the meaning of the outputs or controls changes.
    ///   - declares: The record types and controls that it adds to those of the plugin API, and its other ids.
    ///   - uses: What it uses outside the program.
    public init(
        _ id: String, _ summary: String, primary: String? = nil, version: Int = 1, declares: Declarations = Declarations(),
        uses: Uses = Uses()
    ) {
        self.id = id
        self.summary = summary
        self.primary = primary
        self.version = version
        self.declares = declares
        self.uses = uses
    }

    /// What can be set, in the order in which help prints it.
    public var settings: [Field] { declareSettings() }
    /// The declared keys.
    public var keys: [String] { settings.map(\.name) }
    /// Other ids that a SPEC may have, each with the settings that it stands for. The pipeline and its messages call it so.
    public var aliases: [String: [String: ParameterValue]] { declares.aliases }
    /// The record types that it emits, besides those of the plugin API.
    public var records: [RecordType] { declares.records }
    /// The controls that its analyzer or director handles.
    public var controls: [ControlType] { declares.controls }
    /// The controls that its director handles when no other plugin of the pipeline declares them in `controls`.
    public var fallbackControls: [ControlType] { declares.fallbackControls }
    /// The shared libraries that it calls.
    public var libraries: [SharedLibrary] { uses.libraries() }
    /// Whether it sends to other computers, or can be reached by them.
    public var usesNetwork: Bool { uses.network }

    /// The same plugin with settings, which are declared whenever they are needed.
    package func with(settings: @escaping @Sendable () -> [Field]) -> PluginDescription {
        var whole = self
        whole.declareSettings = settings
        return whole
    }
}

/// A plugin is a value, so that one found at run time looks like one compiled in.
public protocol Plugin: Sendable {
    /// Its declaration.
    var about: PluginDescription { get }
}

/// A kind of capture.
public struct CapturePlugin: Plugin {
    public let about: PluginDescription
    /// Checks the settings; opens nothing.
    public let make: @Sendable (SettingValues) throws(Problem) -> any Capture
    /// Lists the devices that can be opened now; nil for a capture without devices. Its primary setting takes their names. May wait a
    /// few seconds for a server.
    public let devices: (@Sendable () throws(Problem) -> DeviceList)?
    /// Makes an output that this capture can record, to measure latency; nil where there is none.
    public let loopback: (@Sendable () throws(Problem) -> any Loopback)?
    /// The types of files that it reads, by which files of a folder are selected; nil for a capture that reads no files.
    public var fileTypes: FileTypes? { declareFileTypes() }
    private let declareFileTypes: @Sendable () -> FileTypes?

    /// A kind of capture, and how one is made.
    ///
    /// - Parameters:
    ///   - about: What it says about itself.
    ///   - settings: The type of its settings; `NoSettings.self`: there are none.
    ///   - devices: Lists the devices; nil for a capture without devices.
    ///   - loopback: Makes an output that this capture can record; nil where there is none.
    ///   - fileTypes: The types of files that it reads; nil for a capture that reads no files. Evaluated whenever they are needed.
    ///   - make: Checks the settings; opens nothing.
    public init<Settings: PluginSettings>(
        _ about: PluginDescription, settings: Settings.Type,
        devices: (@Sendable () throws(Problem) -> DeviceList)? = nil,
        loopback: (@Sendable () throws(Problem) -> any Loopback)? = nil,
        fileTypes: @escaping @autoclosure @Sendable () -> FileTypes? = nil,
        make: @escaping @Sendable (Settings) throws(Problem) -> any Capture
    ) {
        self.about = about.with(settings: { Settings.fields })
        self.devices = devices
        self.loopback = loopback
        declareFileTypes = fileTypes
        self.make = { values throws(Problem) in try make(Settings(values)) }
    }
}

/// A kind of analyzer.
public struct AnalyzerPlugin: Plugin {
    public let about: PluginDescription
    private let makeUnloaded: @Sendable (SettingValues) throws(Problem) -> any Analyzer

    /// A kind of analyzer, and how one is made.
    ///
    /// - Parameters:
    ///   - about: What it says about itself.
    ///   - settings: The type of its settings; `NoSettings.self`: there are none.
    ///   - make: Checks the settings; opens nothing.
    public init<Settings: PluginSettings>(
        _ about: PluginDescription, settings: Settings.Type, make: @escaping @Sendable (Settings) throws(Problem) -> any Analyzer
    ) {
        self.about = about.with(settings: { Settings.fields })
        makeUnloaded = { values throws(Problem) in try make(Settings(values)) }
    }

    /// Makes an analyzer and loads it, so that `prepare` can follow.
    public func make(_ settings: SettingValues) throws(Problem) -> any Analyzer {
        let analyzer = try makeUnloaded(settings)
        try analyzer.load()
        return analyzer
    }

    /// Checks the settings as far as that is possible without loading anything.
    public func check(_ settings: SettingValues) throws(Problem) {
        _ = try makeUnloaded(settings)
    }
}

/// A kind of sink.
public struct SinkPlugin: Plugin {
    /// A file that a sink writes.
    public struct Output: Sendable, Hashable {
        /// The path, with placeholders for what differs between inputs: `{stem}`, `{name}`, `{dir}`.
        public var path: String
        /// Whether the records of several inputs can follow one another in it.
        public var takesSeveralInputs: Bool
        /// Whether a file at the path is replaced, which is refused in real time. False where it is added to, or where the sink
        /// chooses another name.
        public var replacesFile: Bool

        /// A file at a path.
        public init(_ path: String, takesSeveralInputs: Bool = true, replacesFile: Bool = false) {
            self.path = path
            self.takesSeveralInputs = takesSeveralInputs
            self.replacesFile = replacesFile
        }
    }

    /// What a sink needs of its pipeline.
    public struct Needs: Sendable, Hashable {
        /// Analyzers that must run; `assemble` adds those that are missing, and settings that the user leaves out.
        public var analyzers: [PluginSpec]
        /// Sinks that run too where the program has them, unless the pipeline names one of their id or is a replay.
        public var sinks: [PluginSpec]
        /// Batches carry the audio itself.
        public var samples: Bool
        /// A file is paced to real time.
        public var realTime: Bool
        /// It writes to standard output, which no other sink can use then.
        public var standardOutput: Bool
        /// It writes to standard output as long as no other sink does (``RecordChoice/mayUseStandardOutput``).
        public var spareStandardOutput: Bool
        /// It sends each event at the event's time: `lead_ms` is passed to it (``SinkTiming/lead``), and events arrive as soon as they are
        /// detected.
        public var schedulesEvents: Bool
        /// The record types that it reads: it gets their events although the user's selection leaves them out. It writes only
        /// selected ones.
        public var events: [RecordType]
        /// It writes ``HemiolaRecords/SummaryRecord``s: `select` chooses among their values (``RecordChoice/summary``).
        public var summaries: Bool
        /// The files that it writes, so that no two results are written to one path.
        public var outputs: [Output]

        /// The needs of a sink: rows and events, and what is named.
        public init(
            analyzers: [PluginSpec] = [], sinks: [PluginSpec] = [], samples: Bool = false, realTime: Bool = false,
            standardOutput: Bool = false, spareStandardOutput: Bool = false, schedulesEvents: Bool = false, events: [RecordType] = [],
            summaries: Bool = false, outputs: [Output] = []
        ) {
            self.analyzers = analyzers
            self.sinks = sinks
            self.samples = samples
            self.realTime = realTime
            self.standardOutput = standardOutput
            self.spareStandardOutput = spareStandardOutput
            self.schedulesEvents = schedulesEvents
            self.events = events
            self.summaries = summaries
            self.outputs = outputs
        }
    }

    public let about: PluginDescription
    /// What it needs, given its settings.
    public let needs: @Sendable (SettingValues) -> Needs
    /// Checks the settings; opens nothing.
    public let make: @Sendable (SettingValues) throws(Problem) -> any Sink

    /// A kind of sink, and how one is made.
    ///
    /// - Parameters:
    ///   - about: What it says about itself. The records and controls are those of its director.
    ///   - settings: The type of its settings; `NoSettings.self`: there are none.
    ///   - needs: What it needs of its pipeline, given its settings.
    ///   - make: Checks the settings; opens nothing.
    public init<Settings: PluginSettings>(
        _ about: PluginDescription, settings: Settings.Type,
        needs: @escaping @Sendable (Settings) -> Needs = { _ in Needs() },
        make: @escaping @Sendable (Settings) throws(Problem) -> any Sink
    ) {
        self.about = about.with(settings: { Settings.fields })
        self.needs = { needs(Settings($0)) }
        self.make = { values throws(Problem) in try make(Settings(values)) }
    }
}
