import CWebKit
import Glibc

/// The file that marks a sandbox of Flatpak.
///
/// WebKit runs web processes in bubblewrap, in whose root folder it puts such a file. When the user is root, bubblewrap creates an empty one in
/// the computer's root folder too. It has no meaning there, but while it exists WebKit starts web processes without a sandbox, and PipeWire
/// takes every program for one of Flatpak and refuses it.
enum SandboxFile {
    private static let path = "/.flatpak-info"

    /// Removes an empty file of root. The web processes that run keep theirs. While bubblewrap makes a sandbox, of this window or another one,
    /// the file stays: it would fail, and WebKit would end the window.
    static func removeIfLeftOver() {
        var status = stat()
        guard geteuid() == 0, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == 0, status.st_uid == 0
        else { return }
        if !isMakingSandbox { unlink(path) }
    }

    /// Whether a process `bwrap` has no child yet: the program of its sandbox is the last thing that it starts.
    private static var isMakingSandbox: Bool {
        guard let entries = opendir("/proc") else { return false }
        defer { closedir(entries) }
        var (sandboxes, parents): (Set<Substring>, Set<Substring>) = ([], [])
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            // "PID (NAME) STATE PARENT …"
            guard name.first?.isNumber == true, let status = readStart(of: "/proc/\(name)/stat"), let end = status.lastIndex(of: ")") else {
                continue
            }
            let fields = status[end...].split(separator: " ")
            guard fields.count > 2, fields[1] != "Z" else { continue }
            parents.insert(fields[2])
            if status[..<end].hasSuffix("(bwrap") { sandboxes.insert(name[...]) }
        }
        return !sandboxes.isSubset(of: parents)
    }

    private static func readStart(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
