internal import Glibc

/// Checks every folder and symbolic link on a path, so that no other user can change or replace what is there: a socket, or a file that
/// decides what the program runs.
///
/// A user with write permission on a folder can rename its entries, unless the folder is sticky and the entry has another owner.
public enum TrustedPath {
    /// Maximum number of symbolic links on a path, as in Linux.
    private static let linkLimit = 40

    /// Checks a path.
    ///
    /// - Parameters:
    ///   - path: A folder or a file.
    ///   - thing: What a user who can change the path could replace, for the message: `the socket`.
    /// - Throws: What another user can change, and how to prevent it; or why the path cannot be read.
    public static func check(_ path: String, for thing: String) throws(Problem) {
        var rest = parts(of: path)
        var folder = "/"
        if !path.hasPrefix("/") {
            guard let working = FileSystem.realPath(".") else {
                throw Problem("cannot read the working directory: \(SystemCallError.last)")
            }
            folder = working
        }
        // The folders above the working directory are checked too.
        if folder != "/" {
            rest = parts(of: folder) + rest
            folder = "/"
        }
        try checkEntry(folder, thing)
        var links = 0
        while !rest.isEmpty {
            let name = rest.removeFirst()
            if name == "." { continue }
            if name == ".." {
                folder = FileSystem.folder(of: folder)
                continue
            }
            let next = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
            var status = stat()
            guard lstat(PathText.systemPath(next), &status) == 0 else { throw fault(next) }
            guard status.st_mode & S_IFMT == S_IFLNK else {
                try checkEntry(next, thing)
                folder = next
                continue
            }
            guard isTrusted(status.st_uid) else {
                throw Problem("\(next): symbolic link of another user, who can redirect it; use a path that only you can change")
            }
            links += 1
            guard links <= linkLimit, let target = FileSystem.linkTarget(of: next) else {
                throw fault(next, links > linkLimit ? ELOOP : errno)
            }
            rest = parts(of: target) + rest
            if target.hasPrefix("/") { folder = "/" }
        }
    }

    private static func checkEntry(_ path: String, _ thing: String) throws(Problem) {
        var status = stat()
        guard lstat(PathText.systemPath(path), &status) == 0 else { throw fault(path) }
        guard isTrusted(status.st_uid) else {
            throw Problem("\(path): belongs to another user, who can replace \(thing); use one of your own")
        }
        if status.st_mode & S_IFMT == S_IFDIR, status.st_mode & S_ISVTX != 0 { return }
        guard status.st_mode & S_IWOTH == 0 else {
            throw Problem("\(path): writable by all users, who can replace \(thing); remove the permission: chmod o-w '\(path)'")
        }
        guard status.st_mode & S_IWGRP == 0 || isOwnGroup(status.st_gid) else {
            throw Problem(
                "\(path): writable by a group, whose members can replace \(thing); remove the permission: chmod g-w '\(path)'")
        }
    }

    private static func fault(_ path: String, _ code: Int32 = errno) -> Problem {
        Problem("\(path): \(SystemCallError(number: code))")
    }

    /// Whether a user may have write permission on the path, or listen there.
    public static func isTrusted(_ user: UInt32) -> Bool {
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
}
