internal import Glibc

/// A system call failed.
public struct SystemCallError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The value of `errno`.
    public var number: Int32

    /// The error of that number.
    public init(number: Int32) { self.number = number }

    /// The error of the system call that has just failed on this thread (`errno`). Read it before any other call.
    public static var last: SystemCallError { SystemCallError(number: errno) }

    /// The C library's text: `No such file or directory`.
    public var description: String {
        var text = [CChar](repeating: 0, count: 256)
        guard strerror_r(number, &text, text.count) == 0 else { return "error \(number)" }
        // Safe: the text ends with a zero byte.
        return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// Whether there is no file at the path.
    public var isMissingFile: Bool { number == ENOENT || number == ENOTDIR }
}
