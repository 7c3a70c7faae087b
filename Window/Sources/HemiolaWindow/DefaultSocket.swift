import CWindow
import Glibc

/// The path that the sink `socket` uses without a setting.
enum DefaultSocket {
    /// In the user's folder for sockets, else in a private folder for temporary files.
    static let path = runtimeFolder.map { "\($0)/hemiola.sock" } ?? "\(privateFolder)/hemiola.sock"

    /// Whether another user may have put a socket there: the folder exists, and is not private to this user.
    static var isUnsafe: Bool {
        runtimeFolder == nil && access(privateFolder, F_OK) == 0 && cwindow_folder_is_private(privateFolder) == 0
    }

    private static let runtimeFolder: String? = {
        var status = stat()
        guard let folder = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), folder.hasPrefix("/"), stat(folder, &status) == 0,
            status.st_uid == getuid()
        else { return nil }
        return folder
    }()

    private static let privateFolder: String = {
        let temporary = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        return "\(temporary)/hemiola-\(getuid())"
    }()
}
