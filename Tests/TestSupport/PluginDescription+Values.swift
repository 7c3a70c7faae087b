public import Hemiola

extension PluginDescription {
    /// The values of a SPEC, defaults filled in.
    ///
    /// - Throws: All that is wrong with it.
    public func values(from spec: PluginSpec) throws -> SettingValues {
        var problems: [ConfigurationProblem] = []
        let values = values(from: spec, path: "", problems: &problems)
        guard let values, problems.isEmpty else { throw ConfigurationError(problems) }
        return values
    }

    /// The values of a SPEC as on the command line.
    public func values(parsing spec: String) throws -> SettingValues {
        try values(from: PluginSpec(parsing: spec))
    }
}
