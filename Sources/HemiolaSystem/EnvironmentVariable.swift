internal import Glibc

/// The variables of this process's environment, and the folders of the user that they name.
public enum EnvironmentVariable {
    /// The value of a variable, in the form of ``PathText``; nil when it is unset or empty.
    public static func value(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        // Safe: the value ends with a zero byte.
        return PathText.text(of: UnsafeRawBufferPointer(start: value, count: strlen(value)))
    }

    /// Removes a variable, so that programs that this process starts do not get it. Call before other threads are started.
    package static func remove(_ name: String) {
        unsetenv(name)
    }

    /// The value of a variable that is an absolute path; nil for another value. The XDG Base Directory Specification requires that relative
    /// paths are ignored.
    ///
    /// - Parameter variable: Reads a variable.
    package static func absolutePath(_ name: String, _ variable: (String) -> String? = value) -> String? {
        variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// The user's folder for a kind of files; nil when neither variable is an absolute path.
    ///
    /// - Parameters:
    ///   - name: Its variable, such as `XDG_STATE_HOME`.
    ///   - path: Where it is by default, below `HOME`.
    ///   - variable: Reads a variable.
    package static func userFolder(_ name: String, default path: String, _ variable: (String) -> String? = value) -> String? {
        absolutePath(name, variable) ?? absolutePath("HOME", variable).map { "\($0)/\(path)" }
    }

    /// The user's folder of presets for visualizers, which `hemiola presets add` fills: `hemiola/presets` in `$XDG_DATA_HOME` or
    /// `$HOME/.local/share`. It need not exist.
    ///
    /// - Returns: nil when neither variable is an absolute path.
    public static func presetFolder() -> String? {
        userFolder("XDG_DATA_HOME", default: ".local/share").map { "\($0)/hemiola/presets" }
    }

    /// The user's folder for what the program remembers between runs: `hemiola` in `$XDG_STATE_HOME` or `$HOME/.local/state`. It need not
    /// exist.
    ///
    /// - Parameter variable: Reads a variable; a test gives other values.
    /// - Returns: nil when neither variable is an absolute path.
    public static func stateFolder(_ variable: (String) -> String? = value) -> String? {
        userFolder("XDG_STATE_HOME", default: ".local/state", variable).map { "\($0)/hemiola" }
    }
}
