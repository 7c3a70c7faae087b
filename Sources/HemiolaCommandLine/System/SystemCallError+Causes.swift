internal import Glibc
internal import HemiolaSystem

extension SystemCallError {
    /// Whether the reader has closed the pipe.
    var isBrokenPipe: Bool { number == EPIPE }

    /// Whether the name of a new file is the cause, so that another name may be possible.
    var isOfName: Bool { [ENAMETOOLONG, EISDIR, EILSEQ, EINVAL].contains(number) }

    /// Whether a socket does not exist or no process accepts connections.
    var isUnreachable: Bool { number == ENOENT || number == ECONNREFUSED }
}
