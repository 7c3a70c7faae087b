internal import Glibc

/// The variables of this process's environment.
package enum EnvironmentVariable {
    /// The value of a variable, in the form of `PathText`; nil when it is unset or empty.
    package static func value(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        // Safe: the value ends with a zero byte.
        return PathText.text(of: UnsafeRawBufferPointer(start: value, count: strlen(value)))
    }

    /// The value of a variable that is an absolute path; nil for another value. The XDG Base Directory Specification requires that relative
    /// paths are ignored.
    package static func absolutePath(_ name: String) -> String? {
        value(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
