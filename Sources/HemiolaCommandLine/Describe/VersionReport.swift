internal import Hemiola

/// The output of `hemiola --version --verbose`: what a bug report should contain.
struct VersionReport {
    var version: String
    /// nil: not recorded in the program.
    var commit: String?
    var architecture: String
    var swift: String
    /// Names, and versions; nil: not installed.
    var libraries: [(name: String, version: String?)]

    /// The report of this program, with the libraries of this machine.
    static func current(_ registry: PluginRegistry) -> VersionReport {
        VersionReport(
            version: HemiolaVersion.current, commit: ProgramBuild.commit, architecture: ProgramBuild.architecture,
            swift: ProgramBuild.swift, libraries: ProgramBuild.libraries(registry).map { ("\($0.name)", $0.installedVersion) })
    }

    /// The name and version, then one line per fact.
    var text: String {
        let facts =
            [("commit", commit ?? "unknown"), ("architecture", architecture), ("Swift", swift)]
            + libraries.map { ($0.name, $0.version ?? "not installed") }
        let width = facts.map(\.0.count).max() ?? 0
        return "hemiola \(version)\n" + facts.map { "\($0.padded(to: width))  \($1.onOneLine)\n" }.joined()
    }

    /// Whether the arguments of the process request this report instead of the version alone.
    static func isRequested(by arguments: [String]) -> Bool {
        arguments.count == 2 && Set(arguments) == ["--version", "--verbose"]
    }
}
