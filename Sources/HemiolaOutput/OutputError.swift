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

/// What a file holds after a write that failed.
struct KeptOutput: Sendable {
    /// Whole lines that this run wrote.
    var lines: Int
    /// The length of the file.
    var bytes: Int64
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
    ///
    /// - Parameter kept: What the file holds all the same; nil: nothing is kept.
    static func cannotWrite(_ name: String, _ code: Int32, kept: KeptOutput? = nil) -> OutputError {
        let (cause, advice) =
            switch code {
            case ENOSPC: ("the disk is full", "free some space or write to another disk")
            case EDQUOT: ("your disk quota is used up", "free some space or write to another disk")
            case EFBIG: ("the file would be larger than allowed", "raise the limit (ulimit -f) or select less")
            default: (text(of: code), "write to another file")
            }
        if code == EPIPE || code == ECONNRESET { return OutputError("nobody reads \(name) any more", isReaderGone: true) }
        let keeps = kept.map { "it keeps \($0.lines) whole line\($0.lines == 1 ? "" : "s") of this run, \($0.bytes) bytes in all; " } ?? ""
        return OutputError("cannot write \(name): \(cause); \(keeps)\(advice)")
    }

    /// A live recording would replace a file.
    static func exists(_ name: String, offersAppend: Bool) -> OutputError {
        OutputError(
            "cannot write \(name): the file exists, and a recording in real time does not replace it; choose another path, "
                + (offersAppend ? "write {time} into it, or set append=true" : "or write {time} into it"))
    }

    /// Another live recording has the file open.
    static func inUse(_ name: String) -> OutputError {
        OutputError("cannot write \(name): another program records into it; choose another path")
    }

    /// In the system's words, as the middle of a sentence.
    private static func text(of code: Int32) -> String {
        let text = String(cString: strerror(code))
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
