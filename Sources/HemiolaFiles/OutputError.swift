internal import Glibc
internal import Hemiola
internal import HemiolaSystem

/// An output cannot be opened or written.
struct OutputError: Error, Sendable {
    /// One line: the output, the cause, and what to do.
    var message: String
    /// Whether the reader has closed the pipe, which ends the run without an error.
    var isReaderGone: Bool
    /// Whether the call can succeed later, because all bytes that were accepted are in the file: the disk is full, or the quota is used up.
    ///
    /// Other errors are final. EIO, or any error of `fdatasync`, may concern bytes that an earlier write accepted. The system drops them,
    /// and this process no longer has them.
    var isTemporary = false
    /// Whether other files could be written: the cause is the path, not the disk.
    var isOfFile = false
    /// Bytes of the failed call that are in the file or the compressor. A repeated call must not pass them again.
    var acceptedBytes = 0

    init(_ message: String, isReaderGone: Bool = false) {
        self.message = message
        self.isReaderGone = isReaderGone
    }
}

extension SinkError {
    /// - Parameter retries: Whether the sink can repeat the call.
    init(_ error: OutputError, retries: Bool = false) {
        self.init(
            error.message,
            remedy: error.isReaderGone ? .finish : error.isTemporary && retries ? .retry : error.isOfFile ? .nextInput : .giveUp)
    }
}

/// The contents of a file after a failed write.
struct KeptOutput: Sendable {
    /// Whole lines written by this run.
    var lines: Int
    /// The size of the file.
    var bytes: Int64
}

extension OutputError {
    /// A file cannot be opened or renamed.
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
        var error = OutputError("cannot write \(name): \(text(of: code)); \(advice)")
        error.isTemporary = isDiskFull(code)
        error.isOfFile = [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR, EEXIST, ENOTEMPTY, ENAMETOOLONG, ELOOP, ETXTBSY].contains(code)
        return error
    }

    /// The path is that of a folder.
    static func isFolder(_ name: String) -> OutputError {
        var error = OutputError("cannot write \(name): it is a folder; name a file in it, or rename the folder")
        error.isOfFile = true
        return error
    }

    /// A write failed.
    ///
    /// - Parameter kept: The contents of the file; nil: nothing is kept.
    static func cannotWrite(_ name: String, _ code: Int32, kept: KeptOutput? = nil) -> OutputError {
        let (cause, advice) =
            switch code {
            case ENOSPC: ("the disk is full", "free some space or write to another disk")
            case EDQUOT: ("your disk quota is used up", "free some space or write to another disk")
            case EFBIG: ("the file would be larger than allowed", "raise the limit (ulimit -f) or select less")
            default: (text(of: code), "write to another file")
            }
        if code == EPIPE || code == ECONNRESET { return OutputError("the reader of \(name) has closed it", isReaderGone: true) }
        let keeps = kept.map { "it keeps \($0.lines) whole line\($0.lines == 1 ? "" : "s") of this run, \($0.bytes) bytes in all; " } ?? ""
        var error = OutputError("cannot write \(name): \(cause); \(keeps)\(advice)")
        error.isOfFile = code == EFBIG
        return error
    }

    /// A recording in real time would replace a file.
    static func exists(_ name: String, offersAppend: Bool) -> OutputError {
        OutputError(
            "cannot write \(name): the file exists, and a recording in real time does not replace it; choose another path, "
                + (offersAppend ? "write {time} into it, or set append=true" : "or write {time} into it"))
    }

    /// Another process records into the file.
    static func inUse(_ name: String) -> OutputError {
        OutputError("cannot write \(name): another program records into it; choose another path")
    }

    static func isDiskFull(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }

    /// The system's text for an error number, with a lower-case first letter.
    private static func text(of code: Int32) -> String {
        let text = SystemCallError(number: code).description
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
