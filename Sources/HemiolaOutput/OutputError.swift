internal import Glibc

/// An output cannot be opened or written.
package struct OutputError: Error, Sendable {
    /// One line: what is wrong with which thing, and the way out.
    package var message: String
    /// Nothing is wrong: the reader has gone and wants no more.
    package var isReaderGone: Bool

    package init(_ message: String, isReaderGone: Bool = false) {
        self.message = message
        self.isReaderGone = isReaderGone
    }
}

extension OutputError {
    /// A file cannot be opened or named.
    static func cannotOpen(_ name: String, _ code: Int32) -> OutputError {
        let advice =
            switch code {
            case EACCES, EPERM: "write to another folder, or redirect standard output: > FILE"
            case EROFS: "write to another disk"
            case ENOTDIR: "a part of the path is a file; write to a folder"
            case ENAMETOOLONG: "choose a shorter name"
            case ENOSPC, EDQUOT: "free some space or write to another disk"
            case EMFILE, ENFILE: "raise the limit on open files: ulimit -n"
            default: "write to another file"
            }
        return OutputError("cannot write \(name): \(text(of: code)); \(advice)")
    }

    /// Data cannot be written.
    static func cannotWrite(_ name: String, _ code: Int32) -> OutputError {
        switch code {
        case EPIPE, ECONNRESET:
            OutputError("nobody reads \(name) any more", isReaderGone: true)
        case ENOSPC:
            OutputError("cannot write \(name): the disk is full; free some space or write to another disk")
        case EDQUOT:
            OutputError("cannot write \(name): your disk quota is used up; free some space or write to another disk")
        case EFBIG:
            OutputError("cannot write \(name): the file would be larger than allowed; raise the limit (ulimit -f) or select less")
        default:
            OutputError("cannot write \(name): \(text(of: code)); write to another file")
        }
    }

    /// In the system's words, as the middle of a sentence.
    private static func text(of code: Int32) -> String {
        let text = String(cString: strerror(code))
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
