public import Hemiola
internal import HemiolaOutput

extension SinkPlugin {
    /// Moves a visualizer to the next preset at the right moment, and writes the plan of the show.
    public static let presets = SinkPlugin(
        "presets", "Moves a visualizer to the next preset at the right moment, and writes the plan of the show.",
        settings: PresetSettings.declared, primary: PresetSettings.path.key,
        needs: { settings in
            Needs(
                analyzers: PresetSettings(settings).analyzers,
                spareStandardOutput: OutputTarget(settings[PresetSettings.path]).isStandardOutput,
                outputs: [Output(settings[PresetSettings.path])])
        },
        make: { settings throws(ConfigurationError) in
            let settings = PresetSettings(settings)
            return PresetCycler(settings, plan: try settings.check())
        })
}
