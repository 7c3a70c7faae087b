import CWebKit
import Glibc

/// The file that marks a sandbox of Flatpak.
///
/// WebKit runs web processes in bubblewrap, in whose root folder it puts such a file. When the user is root, bubblewrap creates an empty one in
/// the computer's root folder too. It has no meaning there, but while it exists WebKit starts web processes without a sandbox, and PipeWire
/// takes every program for one of Flatpak and refuses it.
enum SandboxFile {
    private static let path = "/.flatpak-info"

    /// Removes an empty file of root. The web processes that run keep theirs.
    static func removeIfLeftOver() {
        var status = stat()
        guard geteuid() == 0, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == 0, status.st_uid == 0
        else { return }
        unlink(path)
    }
}
