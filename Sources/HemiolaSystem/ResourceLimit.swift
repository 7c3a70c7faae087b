internal import Glibc

/// Ends the process with one line and code 1, because the system denies it what it cannot work without.
///
/// - Parameters:
///   - what: What it was denied, in words that follow "no".
///   - limits: The options of `ulimit` that may be the cause.
package func exitForLack(of what: String, _ error: SystemCallError, limits: String) -> Never {
    RunningProgram.killAll()
    let line = Array("hemiola: no \(what): \(error); raise the limits of this shell: \(limits)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    _exit(1)
}

/// Ends the process as ``exitForLack(of:_:limits:)``, without memory.
package func exitForLackOfMemory() -> Never {
    exitForLack(of: "memory", SystemCallError(number: ENOMEM), limits: "ulimit -v")
}
