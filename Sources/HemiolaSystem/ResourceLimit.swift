internal import Glibc

/// Ends the process with one line and code 1, because the system denies it what it cannot work without.
///
/// - Parameters:
///   - what: What it was denied, in words that follow "no".
///   - limits: The options of `ulimit` that may be the cause.
func exitForLack(of what: String, _ error: SystemCallError, limits: String) -> Never {
    RunningProgram.killAll()
    let line = Array("hemiola: no \(what): \(error); raise the limits of this shell: \(limits)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    _exit(1)
}

/// Ends the process as ``exitForLack(of:_:limits:)``, without memory.
package func exitForLackOfMemory() -> Never {
    exitForLack(of: "memory", SystemCallError(number: ENOMEM), limits: "ulimit -v")
}

/// Raises the limit of open files of this process, as far as the system permits.
///
/// - Parameter required: How many files are needed.
/// - Returns: The limit; nil: it is not known.
package func raiseOpenFileLimit(to required: Int) -> Int? {
    let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return nil }
    if limit.rlim_cur < rlim_t(required) {
        limit.rlim_cur = min(rlim_t(required), limit.rlim_max)
        if setrlimit(resource, &limit) != 0 { getrlimit(resource, &limit) }
    }
    return Int(clamping: limit.rlim_cur)
}
