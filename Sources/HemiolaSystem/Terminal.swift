internal import Glibc
internal import Synchronization

/// Reads single keys from the terminal at standard input, on a separate thread, until `stop`.
///
/// Keys are read without Enter and without echo (non-canonical mode) only while this process is in the foreground. Ctrl-C, Ctrl-Z,
/// Ctrl-S and Ctrl-\ keep their meaning. The mode of the terminal is restored on `stop`, on exit, on a signal and while the
/// process is stopped by Ctrl-Z.
package final class KeyReader: Sendable {
    /// Seconds between two checks whether this process is in the foreground.
    private static let interval = 0.25

    private let wakeUp: WakeUp
    private let isStopped = Mutex(false)

    /// Whether standard input and standard output are terminals.
    package static var isPossible: Bool { FileDescriptor.standardInput.isTerminal && FileDescriptor.standardOutput.isTerminal }

    /// - Parameter process: Receives the bytes of the keys, on the reading thread.
    /// - Returns: nil: no file descriptor or no thread is left, and there are no keys.
    package init?(_ process: @escaping @Sendable (ArraySlice<UInt8>) -> Void) {
        guard let wakeUp = try? WakeUp() else { return nil }
        self.wakeUp = wakeUp
        restoreTerminalOnSignals()
        guard (try? startThread(for: "the keys", { [self] in read(process) })) != nil else { return nil }
    }

    /// Ends the reading and restores the terminal's mode.
    package func stop() {
        isStopped.withLock { isStopped in
            isStopped = true
            Terminal.restore()
        }
        wakeUp.signal()
    }

    private func read(_ process: (ArraySlice<UInt8>) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 64)
        while !isStopped.withLock({ $0 }) {
            let isInForeground = tcgetpgrp(STDIN_FILENO) == getpgrp()
            if isInForeground { isStopped.withLock { if !$0 { setSingleKeyMode() } } }
            // A read in the background would stop the process.
            guard wakeUp.wait(seconds: Self.interval, for: isInForeground ? STDIN_FILENO : nil).isReadable else { continue }
            let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 {
                process(buffer[..<count])
            } else if count == 0 || errno != EINTR && errno != EAGAIN {
                // The terminal is gone.
                return
            }
        }
    }
}

/// The terminal of the user.
package enum Terminal {
    /// Shows the alternate screen on standard output, where it is not shown and this process is in the foreground: at first, and after
    /// Ctrl-Z. ``restore()`` hides it.
    ///
    /// - Parameter prepare: Is called when the screen was hidden: it is empty now.
    /// - Returns: Whether it is shown.
    package static func showScreen(_ prepare: () -> Void) -> Bool {
        guard !isSuspending.load(ordering: .acquiring), tcgetpgrp(StandardOutput.descriptor) == getpgrp() else { return false }
        if isScreenShown.load(ordering: .acquiring) { return true }
        restoreTerminalOnSignals()
        isScreenShown.store(true, ordering: .releasing)
        guard (try? FileDescriptor.standardOutput.writeAll(screenStart)) != nil else { return false }
        prepare()
        return true
    }

    /// Restores the terminal's mode and screen, if they were changed. Safe in a signal handler. Does not wait for pending output.
    package static func restore() {
        hideScreen()
        guard isTerminalChanged.exchange(false, ordering: .acquiringAndReleasing) else { return }
        // In the background the mode is the foreground process's, and a change would stop this one.
        guard tcgetpgrp(STDIN_FILENO) == getpgrp() else { return }
        var mode = terminalMode
        tcsetattr(STDIN_FILENO, TCSANOW, &mode)
    }
}

/// Alternate screen, hidden cursor, no wrapping, clicks of the mouse in the form of SGR (xterm's control sequences).
private let screenStart = Array("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?1000h\u{1B}[?1006h".utf8)

/// Undoes what `showScreen` writes; also the colours and the region that scrolls.
private let screenEnd: StaticString = "\u{1B}[0m\u{1B}[r\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

/// Whether the alternate screen is shown.
private let isScreenShown = Atomic<Bool>(false)
/// Whether the terminal is in single-key mode, with the mode to return to in `terminalMode`.
private let isTerminalChanged = Atomic<Bool>(false)
/// Whether the process is being stopped: the mode stays as it is until it continues.
private let isSuspending = Atomic<Bool>(false)
private nonisolated(unsafe) var terminalMode = termios()  // Written before `isTerminalChanged` is set, read after it was seen set.

/// Sets single-key mode, also when another process (a shell, after SIGSTOP) has changed the mode.
private func setSingleKeyMode() {
    var mode = termios()
    guard !isSuspending.load(ordering: .acquiring), tcgetattr(STDIN_FILENO, &mode) == 0,
        mode.c_lflag & tcflag_t(ICANON) != 0
    else { return }
    isTerminalChanged.store(false, ordering: .releasing)
    terminalMode = mode
    isTerminalChanged.store(true, ordering: .releasing)
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &mode)
}

/// Hides the alternate screen, if it is shown, unless the terminal accepts no text.
private func hideScreen() {
    guard isScreenShown.exchange(false, ordering: .acquiringAndReleasing) else { return }
    guard tcgetpgrp(StandardOutput.descriptor) == getpgrp() else { return }
    // A terminal that was paused by Ctrl-S goes on, or its user would not see the shell. TCOON alone ends a pause by TCOOFF only.
    tcflow(StandardOutput.descriptor, TCOOFF)
    tcflow(StandardOutput.descriptor, TCOON)
    var request = pollfd(fd: StandardOutput.descriptor, events: Int16(POLLOUT), revents: 0)
    if poll(&request, 1, 100) > 0 { _ = write(StandardOutput.descriptor, screenEnd.utf8Start, screenEnd.utf8CodeUnitCount) }
}

/// Restores the terminal when the process is stopped, or ends by a signal that nothing else handles: also by its own fault.
private func restoreTerminalOnSignals() {
    for number in [SIGTSTP, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
        var action = sigaction()
        sigaction(number, nil, &action)
        if action.isIgnored { continue }
        action = .restoringTerminal
        sigaction(number, &action, nil)
    }
}

/// For these signals: restores the terminal, then does what the signal does by default.
private func restoreTerminalAndRaise(_ number: Int32) {
    let before = errno
    isSuspending.store(true, ordering: .releasing)
    Terminal.restore()
    var action = sigaction()
    action.__sigaction_handler.sa_handler = SIG_DFL
    sigaction(number, &action, nil)
    // Not blocked (SA_NODEFER): the process stops here, and goes on from here.
    raise(number)
    action = .restoringTerminal
    sigaction(number, &action, nil)
    isSuspending.store(false, ordering: .releasing)
    errno = before
}

extension sigaction {
    fileprivate static var restoringTerminal: sigaction {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = restoreTerminalAndRaise
        action.sa_flags = Int32(SA_RESTART) | Int32(SA_NODEFER)
        sigemptyset(&action.sa_mask)
        return action
    }
}
