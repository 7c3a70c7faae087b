internal import Hemiola

// Problems of outputs. The remedy is `retry` only where all bytes that were accepted are in the file: the disk is full, or the quota is used
// up. Other errors are final: EIO, or any error of `fdatasync`, may concern bytes that an earlier write accepted. The system drops them, and
// this process no longer has them.

extension Problem {
    /// A file cannot be opened or renamed.
    static func cannotOpen(_ name: String, _ error: SystemCallError) -> Problem {
        let advice =
            switch error.code {
            case .permissionDenied, .notPermitted: "write to another folder, or redirect standard output: > FILE"
            case .readOnlyFileSystem: "write to another disk"
            case .notDirectory: "a part of the path is a file; write to a folder"
            case .fileNameTooLong: "choose a shorter name"
            case .noSpace, .diskQuotaExceeded: "free some space or write to another disk"
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem: "raise the limit on open files: ulimit -n"
            default: "write to another file"
            }
        // Other files can be written: the cause is the path, not the disk.
        let isOfFile = error.code.map { errorsOfFile.contains($0) } ?? false
        return Problem(
            "cannot write \(name): \(text(of: error)); \(advice)",
            remedy: isDiskFull(error) ? .retry : isOfFile ? .nextInput : .giveUp)
    }

    private static let errorsOfFile: Set<SystemCallError.Code> = [
        .permissionDenied, .notPermitted, .readOnlyFileSystem, .noSuchFileOrDirectory, .notDirectory, .isDirectory, .fileExists,
        .directoryNotEmpty, .fileNameTooLong, .tooManySymbolicLinks, .textFileBusy,
    ]

    /// The path is that of a folder.
    static func isFolder(_ name: String) -> Problem {
        Problem("cannot write \(name): it is a folder; name a file in it, or rename the folder", remedy: .nextInput)
    }

    /// A write failed.
    ///
    /// - Parameter kept: The whole lines that this run has written, and the size of the file; nil: nothing is kept.
    static func cannotWrite(_ name: String, _ error: SystemCallError, kept: (lines: Int, bytes: Int64)? = nil) -> Problem {
        let (cause, advice) =
            switch error.code {
            case .noSpace: ("the disk is full", "free some space or write to another disk")
            case .diskQuotaExceeded: ("your disk quota is used up", "free some space or write to another disk")
            case .fileTooLarge: ("the file would be larger than allowed", "raise the limit (ulimit -f) or select less")
            default: (text(of: error), "write to another file")
            }
        if error.code == .brokenPipe || error.code == .connectionReset {
            return Problem("the reader of \(name) has closed it", remedy: .finish)
        }
        let keeps = kept.map { "it keeps \($0.lines) whole line\($0.lines == 1 ? "" : "s") of this run, \($0.bytes) bytes in all; " } ?? ""
        return Problem("cannot write \(name): \(cause); \(keeps)\(advice)", remedy: error.code == .fileTooLarge ? .nextInput : .giveUp)
    }

    /// A recording in real time would replace a file.
    static func exists(_ name: String, offersAppend: Bool) -> Problem {
        Problem(
            "cannot write \(name): the file exists, and a recording in real time does not replace it; choose another path, "
                + (offersAppend ? "write {time} into it, or set append=true" : "or write {time} into it"))
    }

    /// A live file would be compressed.
    ///
    /// - Parameter setting: What requests it.
    static func cannotCompress(_ name: String, setting: String) -> Problem {
        Problem(
            "cannot write \(name): a file that grows line by line is not compressed; leave out \(setting), and compress the file when it "
                + "is complete: zstd FILE")
    }

    /// Another process records into the file.
    static func inUse(_ name: String) -> Problem {
        Problem("cannot write \(name): another program records into it; choose another path")
    }

    /// The same problem where the call cannot be repeated.
    var withoutRetry: Problem {
        var problem = self
        if remedy == .retry { problem.remedy = .giveUp }
        return problem
    }

    static func isDiskFull(_ error: SystemCallError) -> Bool { error.code == .noSpace || error.code == .diskQuotaExceeded }

    /// The system's text for an error, with a lower-case first letter.
    private static func text(of error: SystemCallError) -> String {
        let text = error.description
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
