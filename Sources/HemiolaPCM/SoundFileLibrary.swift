public import HemiolaSystem

extension SharedLibrary {
    /// libsndfile, with which the program is linked. A plugin that calls it names it in its `uses:`.
    ///
    /// Declared here because the capture `file` and the sink `audio` use it, and a plugin imports no plugin.
    public static let sndfile = SharedLibrary(
        "libsndfile", soname: "libsndfile.so.1", package: "libsndfile1", licence: "LGPL-2.1-or-later", relation: .depends,
        use: "sound files", isLinked: true, versionSymbol: .textFunction("sf_version_string"))
}
