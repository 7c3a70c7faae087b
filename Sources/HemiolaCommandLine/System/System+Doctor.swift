internal import Glibc
internal import Hemiola

/// Reads the system properties for `hemiola doctor`.
extension System {
    static func environment(_ registry: PluginRegistry) -> Environment {
        var found = Environment()
        found.version = HemiolaVersion.current
        found.swift = swift
        found.libraries = libraries(registry).map { ($0, $0.installedVersion) }
        found.formats = soundFileFormats
        found.ffmpeg = EnvironmentVariable.value("PATH")?.split(separator: ":").map { "\($0)/ffmpeg" }.first { access($0, X_OK) == 0 }
        found.window = WindowCommand.installedPath
        found.runtime = EnvironmentVariable.value("XDG_RUNTIME_DIR").map { path in
            var folder = folder(path)
            folder.isShared = isOpenToOthers(path)
            return folder
        }
        found.state = EnvironmentVariable.stateFolder().map { folder($0, mayBeMissing: true) }
        found.temporary = folder(EnvironmentVariable.value("TMPDIR") ?? "/tmp")
        found.terminal = terminal
        found.locale = EnvironmentVariable.value("LC_ALL") ?? EnvironmentVariable.value("LC_CTYPE") ?? EnvironmentVariable.value("LANG")
        return found
    }

    // MARK: - Folders and terminal

    /// Checks that a folder is writable, without writing.
    ///
    /// - Parameter mayBeMissing: Whether it is created when needed: then its nearest existing parent must be writable.
    private static func folder(_ path: String, mayBeMissing: Bool = false) -> Environment.Folder {
        var status = stat()
        if stat(path, &status) != 0 {
            let number = errno
            if mayBeMissing, number == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
                return Environment.Folder(path: path, fault: folder(String(path[..<slash]), mayBeMissing: true).fault)
            }
            return Environment.Folder(path: path, fault: SystemCallError(number: number).description)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return Environment.Folder(path: path, fault: "not a folder") }
        guard access(path, W_OK | X_OK) == 0 else {
            return Environment.Folder(path: path, fault: SystemCallError.last.description)
        }
        return Environment.Folder(path: path)
    }

    private static func isOpenToOthers(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && (status.st_mode & 0o077 != 0 || status.st_uid != getuid())
    }

    private static var terminal: String {
        guard destination(of: standardError) == .terminal else { return "standard error is not a terminal: no progress bar" }
        return "\(EnvironmentVariable.value("TERM") ?? "TERM is not set"), \(columns(of: standardError) ?? 80) columns"
    }
}
