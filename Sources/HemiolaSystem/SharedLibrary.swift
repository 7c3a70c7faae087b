/// A shared library of the system that Hemiola links, or that a plugin or a command loads when it is needed.
///
/// `hemiola doctor`, the list of components and the relations of the Debian package are made from these declarations.
///
/// All texts are constants, so that a declaration takes neither time nor memory until it is read.
public struct SharedLibrary: Sendable {
    /// The field of the Debian package that names a library: how much is lost without it.
    public enum Relation: Sendable {
        /// The program does not start, or does little, without it.
        case depends
        /// Most users need what it does.
        case recommends
        /// Some users need what it does.
        case suggests
    }

    /// The symbol that has the version.
    public enum VersionSymbol: Sendable {
        /// `const char NAME[]`
        case text(StaticString)
        /// `const char *NAME`
        case textPointer(StaticString)
        /// `const char *NAME(void)`
        case textFunction(StaticString)
        /// `NAME(int *major, int *minor, int *patch)`
        case numbersFunction(StaticString)
    }

    /// The name of the project: `libsndfile`.
    public let name: StaticString
    /// The name that the dynamic linker searches for: `libsndfile.so.1`.
    public let soname: StaticString
    /// The Debian package.
    public let package: StaticString
    /// The first version of the package that has every function that is called; nil: every version with this soname.
    public let minimumVersion: StaticString?
    /// An expression of SPDX.
    public let licence: StaticString
    /// How much is lost without it.
    public let relation: Relation
    /// What needs it, for somebody who does not have it: `the sink mqtt`.
    public let use: StaticString
    /// Whether the program is linked with it, so that it does not start without it.
    public let isLinked: Bool
    /// Where the library says its version; nil: nowhere.
    public let versionSymbol: VersionSymbol?

    /// Declares a library. Loads nothing.
    public init(
        _ name: StaticString, soname: StaticString, package: StaticString, minimumVersion: StaticString? = nil, licence: StaticString,
        relation: Relation, use: StaticString, isLinked: Bool = false, versionSymbol: VersionSymbol?
    ) {
        self.name = name
        self.soname = soname
        self.package = package
        self.minimumVersion = minimumVersion
        self.licence = licence
        self.relation = relation
        self.use = use
        self.isLinked = isLinked
        self.versionSymbol = versionSymbol
    }

    /// For the message of a library that is missing.
    public var remedy: String { "install it: apt install \(package)" }
}
