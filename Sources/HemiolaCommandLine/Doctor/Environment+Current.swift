internal import Hemiola

extension Environment {
    /// The properties of this program and this computer.
    static func current(_ registry: PluginRegistry) -> Environment {
        var found = Environment()
        found.version = HemiolaVersion.current
        found.swift = ProgramBuild.swift
        found.libraries = ProgramBuild.libraries(registry).map { ($0, $0.installedVersion) }
        found.formats = ProgramBuild.soundFileFormats
        let folders = EnvironmentVariable.value("PATH")?.split(separator: ":") ?? []
        found.ffmpeg = folders.map { "\($0)/ffmpeg" }.first(where: FileSystem.isExecutable)
        found.window = WindowCommand.installedPath
        found.runtime = EnvironmentVariable.value("XDG_RUNTIME_DIR").map { path in
            var runtime = folder(path)
            runtime.isShared = (try? FileSystem.status(of: path).isPrivate) == false
            return runtime
        }
        found.state = EnvironmentVariable.stateFolder().map { folder($0, mayBeMissing: true) }
        found.temporary = folder(EnvironmentVariable.value("TMPDIR") ?? "/tmp")
        found.terminal = terminal
        found.locale = TerminalStyle.locale(EnvironmentVariable.value)
        return found
    }

    /// Checks that a folder is writable, without writing.
    ///
    /// - Parameter mayBeMissing: Whether it is created when needed: then its nearest existing parent must be writable.
    private static func folder(_ path: String, mayBeMissing: Bool = false) -> Folder {
        do {
            guard try FileSystem.status(of: path).kind == .folder else { return Folder(path: path, fault: "not a folder") }
            try FileSystem.checkPermissions([.write, .execute], of: path)
            return Folder(path: path)
        } catch {
            if mayBeMissing, error.code == .noSuchFileOrDirectory, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
                return Folder(path: path, fault: folder(String(path[..<slash]), mayBeMissing: true).fault)
            }
            return Folder(path: path, fault: error.description)
        }
    }

    private static var terminal: String {
        guard FileDescriptor.standardError.isTerminal else { return "standard error is not a terminal: no progress bar" }
        return "\(EnvironmentVariable.value("TERM") ?? "TERM is not set"), \(FileDescriptor.standardError.columns) columns"
    }
}
