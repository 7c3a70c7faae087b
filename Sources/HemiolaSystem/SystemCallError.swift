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

    /// Which error it is, of those that Hemiola distinguishes; nil: another one.
    public var code: Code? { Code.numbers.first { $0.value == number }?.key }

    /// Whether there is no file at the path.
    public var isMissingFile: Bool { code == .noSuchFileOrDirectory || code == .notDirectory }
}

extension SystemCallError {
    /// An error.
    public init(_ code: Code) { self.init(number: Code.numbers[code]!) }

    /// The errors that Hemiola distinguishes, in the words of POSIX.
    public enum Code: Sendable, CaseIterable {
        /// A right is missing: `EPERM`, `EACCES`, `EROFS`.
        case notPermitted, permissionDenied, readOnlyFileSystem
        /// There is no such thing: `ENOENT`, `ENXIO`, `ENODEV`. `ENXIO` is also that of a pipe without a reader, and of a socket.
        case noSuchFileOrDirectory, noSuchAddressOrDevice, noSuchDevice
        /// Another kind of file is there: `EEXIST`, `ENOTDIR`, `EISDIR`, `ENOTEMPTY`, `ETXTBSY`.
        case fileExists, notDirectory, isDirectory, directoryNotEmpty, textFileBusy
        /// A name or an argument is not possible: `EINVAL`, `ENAMETOOLONG`, `ELOOP`, `EILSEQ`.
        case invalidArgument, fileNameTooLong, tooManySymbolicLinks, illegalByteSequence
        /// A limit is reached: `ENFILE`, `EMFILE`, `EFBIG`, `ENOSPC`, `EDQUOT`.
        case tooManyOpenFilesInSystem, tooManyOpenFiles, fileTooLarge, noSpace, diskQuotaExceeded
        /// Not now: `EINTR`, `EAGAIN`, `EBUSY`.
        case interrupted, wouldBlock, resourceBusy
        /// A device has failed, or the other end of a pipe is gone: `EIO`, `EPIPE`.
        case inputOutput, brokenPipe
        /// Of addresses and networks: `EADDRINUSE`, `EADDRNOTAVAIL`, `ENETDOWN`, `ENETUNREACH`.
        case addressInUse, addressNotAvailable, networkDown, networkUnreachable
        /// Of connections: `ECONNRESET`, `ETIMEDOUT`, `ECONNREFUSED`, `EHOSTUNREACH`.
        case connectionReset, timedOut, connectionRefused, hostUnreachable

        fileprivate static let numbers: [Code: Int32] = [
            .notPermitted: EPERM, .permissionDenied: EACCES, .readOnlyFileSystem: EROFS, .noSuchFileOrDirectory: ENOENT,
            .noSuchAddressOrDevice: ENXIO, .noSuchDevice: ENODEV, .fileExists: EEXIST, .notDirectory: ENOTDIR, .isDirectory: EISDIR,
            .directoryNotEmpty: ENOTEMPTY, .textFileBusy: ETXTBSY, .invalidArgument: EINVAL, .fileNameTooLong: ENAMETOOLONG,
            .tooManySymbolicLinks: ELOOP, .illegalByteSequence: EILSEQ, .tooManyOpenFilesInSystem: ENFILE, .tooManyOpenFiles: EMFILE,
            .fileTooLarge: EFBIG, .noSpace: ENOSPC, .diskQuotaExceeded: EDQUOT, .interrupted: EINTR, .wouldBlock: EAGAIN,
            .resourceBusy: EBUSY, .inputOutput: EIO, .brokenPipe: EPIPE, .addressInUse: EADDRINUSE, .addressNotAvailable: EADDRNOTAVAIL,
            .networkDown: ENETDOWN, .networkUnreachable: ENETUNREACH, .connectionReset: ECONNRESET, .timedOut: ETIMEDOUT,
            .connectionRefused: ECONNREFUSED, .hostUnreachable: EHOSTUNREACH,
        ]
    }
}
