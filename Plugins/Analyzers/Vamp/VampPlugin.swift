public import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

extension AnalyzerPlugin {
    /// Runs a Vamp plugin.
    public static let vamp = AnalyzerPlugin(
        "vamp", "Runs a Vamp plugin that is installed on this computer.", settings: VampSettings.declared, primary: "plugin", version: 1
    ) { settings throws(Problem) in
        try VampSettings(settings).analyzer
    }
}

/// The settings of the analyzer `vamp`.
struct VampSettings: Sendable {
    /// The channels that the plugin gets.
    enum Channels: String, CaseIterable, SettingChoice {
        case automatic = "auto"
        case mix, all
    }

    private static let plugin = Setting(
        "plugin", default: "", example: "vamp-example-plugins:percussiononsets:onsets",
        "LIBRARY:PLUGIN or LIBRARY:PLUGIN:OUTPUT, as hemiola plugins --vamp lists them; without an output, all are used.")
    private static let parameters = Setting(
        "parameters", default: [String](), example: "threshold=3+sensitivity=40",
        "Parameters of the plugin, NAME=VALUE each; unset: the plugin's defaults.")
    private static let program = Setting("program", default: "", "Program of the plugin: named values of its parameters.")
    private static let block = Setting<Int?>(
        "block", in: 1...VampStream.largestBlock, unit: "frames", "Frames per block; unset: as the plugin prefers, else 1024.")
    private static let step = Setting<Int?>(
        "step", in: 1...VampStream.largestBlock, unit: "frames",
        "Frames from one block to the next; unset: as the plugin prefers, else a block, and half a block for spectra.")
    private static let channels = Setting(
        "channels", default: Channels.automatic,
        "Channels that the plugin reads: the mono mix (mix), those of the input (all), or all if the plugin accepts them, else the mix (auto)."
    )
    private static let channel = Setting<Int?>(
        "channel", in: 1...StreamFormat.channelCounts.upperBound,
        "The only channel that the plugin reads, 1 the first; unset: see channels.")

    private static let isolated = Setting(
        "isolated", default: false, "Runs the plugin in a process of its own, so that a crash of it does not end Hemiola.")
    private static let timeout = Setting(
        "timeout_s", default: 10.0, in: 0.1...3600, unit: .seconds, "Isolated: time in which the plugin must return from a call.")
    private static let onError = Setting(
        "on_error", default: FailurePolicy.auto,
        "Isolated, when the plugin crashes or exceeds the time: end with an error (fail), start it again (retry), go on without it (skip); "
            + "auto: retry in real time, else fail.")

    static let declared = [
        plugin.declared, parameters.declared, program.declared, block.declared, step.declared, channels.declared, channel.declared,
        isolated.declared, timeout.declared, onError.declared,
    ]

    let configuration: VampStream.Configuration
    /// The analyzer in a process of its own; nil: in this one.
    private var isolatedAnalyzer: IsolatedAnalyzer?

    var analyzer: any Analyzer {
        isolatedAnalyzer.map { BlockAnalyzer($0) } ?? VampAnalyzer(configuration)
    }

    init(_ settings: SettingValues) throws(Problem) {
        let name = settings[Self.plugin]
        guard !name.isEmpty else {
            throw Problem("unset; write vamp:LIBRARY:PLUGIN, as hemiola plugins --vamp lists them", at: Self.plugin.key)
        }
        let parts = name.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard (2...3).contains(parts.count), !parts.contains("") else {
            throw Problem(
                "\"\(name)\" is not LIBRARY:PLUGIN or LIBRARY:PLUGIN:OUTPUT; list them with: hemiola plugins --vamp", at: Self.plugin.key)
        }
        var configuration = VampStream.Configuration(library: parts[0], plugin: parts[1], output: parts.count == 3 ? parts[2] : nil)
        for item in settings[Self.parameters] {
            guard let equals = item.firstIndex(of: "="), equals != item.startIndex else {
                throw Problem("\"\(item)\" is not NAME=VALUE; write parameters=NAME=VALUE+NAME=VALUE", at: Self.parameters.key)
            }
            let name = String(item[..<equals])
            guard !configuration.parameters.contains(where: { $0.name == name }) else {
                throw Problem("\"\(name)\" is given twice; give it once", at: Self.parameters.key)
            }
            configuration.parameters.append(.init(name: name, value: String(item[item.index(after: equals)...])))
        }
        if !settings[Self.program].isEmpty { configuration.program = settings[Self.program] }
        (configuration.block, configuration.step) = (settings[Self.block], settings[Self.step])
        switch (settings[Self.channels], settings[Self.channel]) {
        case (.automatic, let channel?): configuration.channels = .one(channel - 1)
        case (_, _?):
            throw Problem("channels and channel exclude each other; leave out one of them", at: Self.channel.key)
        case (.automatic, nil): configuration.channels = .automatic
        case (.mix, nil): configuration.channels = .mix
        case (.all, nil): configuration.channels = .all
        }
        self.configuration = configuration
        if settings[Self.isolated] {
            isolatedAnalyzer = IsolatedAnalyzer(
                "vamp", settings: settings.setting(Self.isolated, to: false),
                name: "\(VampFolders.name(of: configuration.library)):\(configuration.plugin)", timeout: settings[Self.timeout],
                policy: settings[Self.onError], remedy: "report it to the plugin's author")
        }
    }
}
