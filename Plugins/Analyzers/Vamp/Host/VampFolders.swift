internal import HemiolaSystem

/// The folders in which Vamp libraries are installed.
enum VampFolders {
    /// The folders that are searched, in order: `$VAMP_PATH`, or if it is unset `$HOME/vamp`, `$HOME/.vamp`, `/usr/local/lib/vamp` and
    /// `/usr/lib/vamp`, as the specification says, and Debian's folder of libraries for this processor.
    static var searched: [String] {
        if let path = EnvironmentVariable.value("VAMP_PATH") { return path.split(separator: ":").map(String.init) }
        let home = EnvironmentVariable.value("HOME").map { ["\($0)/vamp", "\($0)/.vamp"] } ?? []
        return home + ["/usr/local/lib/vamp", "/usr/lib/vamp", "/usr/lib/\(multiarch)/vamp"]
    }

    /// The path of a library.
    ///
    /// - Parameter name: The name of its file without the extension, or a path, which contains a slash.
    /// - Returns: nil when there is no such file.
    static func path(of name: String) -> String? {
        if name.contains("/") { return FileSystem.exists(name) ? name : nil }
        return searched.map { "\($0)/\(name).so" }.first(where: FileSystem.exists)
    }

    /// The paths of all libraries, by folder and name. A library that is in several folders is listed once, as the first of them.
    static var libraries: [String] {
        var names: Set<String> = []
        return searched.flatMap { folder in
            files(in: folder).filter { $0.hasSuffix(".so") && names.insert($0).inserted }.map { "\(folder)/\($0)" }
        }
    }

    /// The name of a library: that of its file, without the extension.
    static func name(of path: String) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return file.hasSuffix(".so") ? String(file.dropLast(3)) : file
    }

    private static var multiarch: String {
        #if arch(arm64)
            "aarch64-linux-gnu"
        #else
            "x86_64-linux-gnu"
        #endif
    }

    /// The sorted names of the files of a folder; none when it cannot be read.
    private static func files(in folder: String) -> [String] {
        ((try? FileSystem.names(in: folder)) ?? []).sorted()
    }
}
