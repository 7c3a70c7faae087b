import CWebKit
import Glibc

/// The file that marks a sandbox of Flatpak.
///
/// WebKit runs web processes in bubblewrap, in whose root folder it puts such a file. When the user is root, bubblewrap creates an empty one in
/// the computer's root folder too. It has no meaning there, but while it exists WebKit starts web processes without a sandbox, and PipeWire
/// takes every program for one of Flatpak and refuses it.
enum SandboxFile {
    private static let path = "/.flatpak-info"
    /// While web processes start, bubblewrap uses the file: one that fails to start ends the window.
    private static let startSeconds = 2.0
    private static var lastStart = -Double.infinity

    /// A web process begins to start.
    static func pageStarts() {
        lastStart = monotonicSeconds()
    }

    /// Removes the file, unless a web process started within the last 2 s.
    static func removeWhenUnused() {
        if monotonicSeconds() - lastStart > startSeconds { remove() }
    }

    /// Removes an empty file of root. The web processes that run keep theirs.
    static func remove() {
        var status = stat()
        guard geteuid() == 0, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == 0, status.st_uid == 0
        else { return }
        unlink(path)
    }
}
