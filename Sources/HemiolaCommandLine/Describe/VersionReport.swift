internal import Hemiola
internal import HemiolaSignal

/// A shared library that the program links, or loads when it is needed.
struct Library: Equatable {
    var name: String
    /// The Debian package.
    var package: String
    /// What needs the library; nil: the package of Hemiola depends on it.
    var use: String?
    /// nil: not installed.
    var version: String?

    init(_ name: String, package: String, use: String? = nil, version: String?) {
        self.name = name
        self.package = package
        self.use = use
        self.version = version
    }
}

/// The output of `hemiola --version --verbose`: what a bug report should contain.
struct VersionReport {
    var version: String
    /// nil: not recorded in the program.
    var commit: String?
    var architecture: String
    var swift: String
    var libraries: [Library]

    /// The report of this program, with the libraries of this machine.
    static var current: VersionReport {
        VersionReport(
            version: HemiolaVersion.current, commit: System.commit, architecture: System.architecture, swift: System.swift,
            libraries: System.libraries)
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
