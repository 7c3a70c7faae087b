public import Hemiola

extension PluginDescription {
    /// The values of a SPEC, with defaults for missing settings.
    ///
    /// - Throws: An error with all problems.
    public func values(from spec: PluginSpec) throws -> SettingValues {
        var problems: [Problem] = []
        let values = values(from: spec, problems: &problems)
        guard let values, problems.isEmpty else { throw Problem(problems) }
        return values
    }

    /// The values of a SPEC in command line syntax.
    public func values(parsing spec: String) throws -> SettingValues {
        try values(from: PluginSpec(parsing: spec))
    }
}
