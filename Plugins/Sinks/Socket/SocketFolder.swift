internal import Hemiola

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Checks every folder and symbolic link on the socket's path, so that no other user can replace the socket.
///
/// A user with write permission on a folder can rename its entries, unless the folder is sticky and the entry has another owner.
enum SocketFolder {
    /// Maximum number of symbolic links on a path, as in Linux.
    private static let linkLimit = 40

    /// - Parameter path: The socket's folder.
    /// - Throws: An error that names the folder or link that another user can change, and the remedy.
    static func check(_ path: String) throws(SinkError) {
        var rest = parts(of: path)
        var folder = path.hasPrefix("/") ? "/" : try workingDirectory()
        // The folders above the working directory are checked too.
        if folder != "/" {
            rest = parts(of: folder) + rest
            folder = "/"
        }
        try checkFolder(folder)
        var links = 0
        while !rest.isEmpty {
            let name = rest.removeFirst()
            if name == "." { continue }
            if name == ".." {
                folder = parent(of: folder)
                continue
            }
            let next = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
            var status = stat()
            guard lstat(next, &status) == 0 else { throw SinkError("\(next): \(String(cString: strerror(errno)))") }
            guard status.st_mode & S_IFMT == S_IFLNK else {
                try checkFolder(next)
                folder = next
                continue
            }
            guard isTrusted(status.st_uid) else {
                throw SinkError("\(next): symbolic link of another user, who can redirect it; use a path that only you can change")
            }
            links += 1
            guard links <= linkLimit, let target = target(of: next) else {
                throw SinkError("\(next): \(String(cString: strerror(links > linkLimit ? ELOOP : errno)))")
            }
            rest = parts(of: target) + rest
            if target.hasPrefix("/") { folder = "/" }
        }
    }

    private static func checkFolder(_ path: String) throws(SinkError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw SinkError("\(path): \(String(cString: strerror(errno)))") }
        guard isTrusted(status.st_uid) else {
            throw SinkError("\(path): belongs to another user, who can replace the socket; use a folder of your own")
        }
        if status.st_mode & S_ISVTX != 0 { return }
        guard status.st_mode & S_IWOTH == 0 else {
            throw SinkError("\(path): writable by all users, who can replace the socket; remove the permission: chmod o-w '\(path)'")
        }
        guard status.st_mode & S_IWGRP == 0 || isOwnGroup(status.st_gid) else {
            throw SinkError(
                "\(path): writable by a group, whose members can replace the socket; remove the permission: chmod g-w '\(path)'")
        }
    }

    private static func isTrusted(_ user: uid_t) -> Bool {
        var root = stat()
        return isTrusted(user, by: geteuid(), rootFolderOwner: lstat("/", &root) == 0 ? root.st_uid : 0)
    }

    /// Whether a user may have write permission on the path: the user itself, root, and the owner of `/`, who can change every path. In a
    /// user namespace that does not map root, that owner is root under the system's overflow number. Other users that the namespace does
    /// not map have the same number, and cannot be distinguished from root.
    static func isTrusted(_ user: uid_t, by own: uid_t, rootFolderOwner: uid_t) -> Bool {
        user == own || user == 0 || user == rootFolderOwner
    }

    /// Whether a group is root's, or a private group of this user: many systems create a group for every user.
    private static func isOwnGroup(_ group: gid_t) -> Bool {
        if group == 0 { return true }
        guard let user = getpwuid(geteuid())?.pointee, user.pw_gid == group else { return false }
        let name = String(cString: user.pw_name)
        guard let entry = getgrgid(group)?.pointee, String(cString: entry.gr_name) == name else { return false }
        guard var member = entry.gr_mem else { return true }
        while let other = member.pointee {
            if String(cString: other) != name { return false }
            member += 1
        }
        return true
    }

    private static func parts(of path: String) -> [String] { path.split(separator: "/").map(String.init) }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func workingDirectory() throws(SinkError) -> String {
        guard let path = getcwd(nil, 0) else { throw SinkError("cannot read the working directory: \(String(cString: strerror(errno)))") }
        defer { free(path) }
        return String(cString: path)
    }

    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink(link, &buffer, Int(PATH_MAX))
        return count < 0 ? nil : String(decoding: buffer[..<count].map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }
}
