public import Hemiola

extension AnalyzerPlugin {
    /// Runs a Vamp plugin, in a process of the `hemiola` that is installed.
    public static let vamp = vampProcess(of: "hemiola")

    /// Runs a Vamp plugin, in a process of a program.
    ///
    /// - Parameter program: It serves ``vampHost`` for the arguments `plugins --run-vamp SETTINGS`.
    package static func vampProcess(of program: String) -> AnalyzerPlugin {
        AnalyzerPlugin(vampDescription, settings: VampSettings.self) { settings throws(Problem) in try settings.analyzer(of: program) }
    }

    /// Runs a Vamp plugin in this process, which it may end.
    package static let vampHost = AnalyzerPlugin(vampDescription, settings: VampSettings.self) { settings throws(Problem) in
        VampAnalyzer(try settings.configuration())
    }

    private static let vampDescription = PluginDescription(
        "vamp", "Runs a Vamp plugin that is installed on this computer.", primary: "plugin", version: 1,
        declares: .init(records: [.analyzerEvent]))
}

/// The settings of the analyzer `vamp`.
struct VampSettings: PluginSettings {
    /// The channels that the plugin gets.
    enum Channels: String, CaseIterable {
        case automatic = "auto"
        case mix, all
    }

    var plugin: String
    var parameters: [String]
    var program: String
    var block: Int?
    var step: Int?
    var channels: Channels
    var channel: Int?
    var timeout: Double
    var onError: FailurePolicy

    init(_ read: inout SettingReader) {
        plugin = read.text(
            "plugin", default: "", example: "vamp-example-plugins:percussiononsets:onsets",
            "LIBRARY:PLUGIN or LIBRARY:PLUGIN:OUTPUT, as hemiola plugins --vamp lists them; without an output, all are used.")
        parameters = read.texts(
            "parameters", example: "threshold=3+sensitivity=40", "Parameters of the plugin, NAME=VALUE each; unset: the plugin's defaults.")
        program = read.text("program", default: "", "Program of the plugin: named values of its parameters.")
        block = read.integer(
            "block", in: 1...VampStream.largestBlock, unit: "frames", "Frames per block; unset: as the plugin prefers, else 1024.")
        step = read.integer(
            "step", in: 1...VampStream.largestBlock, unit: "frames",
            "Frames from one block to the next; unset: as the plugin prefers, else a block, and half a block for spectra.")
        channels = read.choice(
            "channels", default: Channels.automatic,
            "Channels that the plugin reads: the mono mix (mix), those of the input (all), or all if the plugin accepts them, else the mix (auto)."
        )
        channel = read.integer(
            "channel", in: 1...StreamFormat.channelCounts.upperBound,
            "The only channel that the plugin reads, 1 the first; unset: see channels.")
        timeout = read.seconds(
            "timeout_s", default: 10, in: 0.1...3600,
            "Time in which the plugin must return from a call; from files, processor time that it may use for that.")
        onError = read.failurePolicy()
    }

    fileprivate func analyzer(of program: String) throws(Problem) -> any Analyzer {
        let configuration = try configuration()
        return BlockProgram(
            .arguments([program, "plugins", "--run-vamp", text]),
            name: "\(VampFolders.name(of: configuration.library)):\(configuration.plugin)", timeout: timeout, policy: onError,
            remedy: "report it to the plugin's author", samples: .interleaved, isHemiola: true
        ).makeAnalyzer()
    }

    /// The settings of the plugin's process, as a JSON object.
    private var text: String {
        var members: [JSONValue.Member] = [
            .init("plugin", .text(plugin)), .init("parameters", .list(parameters.map { .text($0) })), .init("program", .text(program)),
            .init("channels", .text(channels.rawValue)),
        ]
        for (key, number) in [("block", block), ("step", step), ("channel", channel)] {
            if let number { members.append(.init(key, .integer(number))) }
        }
        return String(JSONValue.object(members).line.dropLast())
    }

    fileprivate func configuration() throws(Problem) -> VampStream.Configuration {
        guard !plugin.isEmpty else {
            throw Problem("unset; write vamp:LIBRARY:PLUGIN, as hemiola plugins --vamp lists them", at: "plugin")
        }
        let parts = plugin.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard (2...3).contains(parts.count), !parts.contains("") else {
            throw Problem(
                "\"\(plugin)\" is not LIBRARY:PLUGIN or LIBRARY:PLUGIN:OUTPUT; list them with: hemiola plugins --vamp", at: "plugin")
        }
        var configuration = VampStream.Configuration(library: parts[0], plugin: parts[1], output: parts.count == 3 ? parts[2] : nil)
        for item in parameters {
            guard let equals = item.firstIndex(of: "="), equals != item.startIndex else {
                throw Problem("\"\(item)\" is not NAME=VALUE; write parameters=NAME=VALUE+NAME=VALUE", at: "parameters")
            }
            let name = String(item[..<equals])
            guard !configuration.parameters.contains(where: { $0.name == name }) else {
                throw Problem("\"\(name)\" is given twice; give it once", at: "parameters")
            }
            configuration.parameters.append(.init(name: name, value: String(item[item.index(after: equals)...])))
        }
        if !program.isEmpty { configuration.program = program }
        (configuration.block, configuration.step) = (block, step)
        switch (channels, channel) {
        case (.automatic, let channel?): configuration.channels = .one(channel - 1)
        case (_, _?):
            throw Problem("channels and channel exclude each other; leave out one of them", at: "channel")
        case (.automatic, nil): configuration.channels = .automatic
        case (.mix, nil): configuration.channels = .mix
        case (.all, nil): configuration.channels = .all
        }
        return configuration
    }
}
