public import Hemiola

extension AnalyzerPlugin {
    /// Sends the audio to a program and reads features and events from it.
    public static let exec = AnalyzerPlugin(
        PluginDescription(
            "exec", "Starts a program, sends it the audio, and reads features and events from it.", primary: "command",
            declares: .init(records: [.analyzerEvent])),
        settings: ExecAnalyzerSettings.self
    ) { settings throws(Problem) in
        try settings.program.check()
        let program = settings.program
        return BlockProgram(
            program.command, name: program.name, timeout: program.timeout, policy: program.policy, remedy: "run it in a shell to see why",
            samples: settings.channels == .mono ? .mono : .interleaved
        ).makeAnalyzer()
    }
}

/// The settings of the analyzer `exec`.
struct ExecAnalyzerSettings: PluginSettings {
    enum Channels: String, CaseIterable {
        /// The mono mix.
        case mono
        /// All channels, interleaved.
        case all
    }

    var program: ProgramSettings
    var channels: Channels

    init(_ read: inout SettingReader) {
        program = ProgramSettings(&read)
        channels = read.choice(
            "channels", default: Channels.mono, "The samples that the program gets: the mix of the channels (mono), or all, interleaved.")
    }
}
