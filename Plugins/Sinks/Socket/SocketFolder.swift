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
    /// As many as Linux follows.
    private static let linkLimit = 40

    /// - Parameter path: Of the folder that the socket is in.
    /// - Throws: Which folder or link another user can change, and what to do.
    static func check(_ path: String) throws(SinkError) {
        var rest = parts(of: path)
        var place = path.hasPrefix("/") ? "/" : try workingDirectory()
        // The working directory's own way from the root is checked too.
        if place != "/" {
            rest = parts(of: place) + rest
            place = "/"
        }
        try checkFolder(place)
        var links = 0
        while !rest.isEmpty {
            let name = rest.removeFirst()
            if name == "." { continue }
            if name == ".." {
                place = parent(of: place)
                continue
            }
            let next = place == "/" ? "/\(name)" : "\(place)/\(name)"
            var status = stat()
            guard lstat(next, &status) == 0 else { throw SinkError("\(next): \(String(cString: strerror(errno)))") }
            guard status.st_mode & S_IFMT == S_IFLNK else {
                try checkFolder(next)
                place = next
                continue
            }
            guard isTrusted(status.st_uid) else {
                throw SinkError("\(next) is a symbolic link of another user, who could change it; use a path of your own")
            }
            links += 1
            guard links <= linkLimit, let target = target(of: next) else {
                throw SinkError("\(next): \(String(cString: strerror(links > linkLimit ? ELOOP : errno)))")
            }
            rest = parts(of: target) + rest
            if target.hasPrefix("/") { place = "/" }
        }
    }

    private static func checkFolder(_ path: String) throws(SinkError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw SinkError("\(path): \(String(cString: strerror(errno)))") }
        guard isTrusted(status.st_uid) else {
            throw SinkError("\(path) belongs to another user, who could put another socket there; take a folder of your own")
        }
        if status.st_mode & S_ISVTX != 0 { return }
        guard status.st_mode & S_IWOTH == 0 else {
            throw SinkError("everybody may write to \(path), and could put another socket there; chmod o-w '\(path)'")
        }
        guard status.st_mode & S_IWGRP == 0 || isOwnGroup(status.st_gid) else {
            throw SinkError("a group may write to \(path), and could put another socket there; chmod g-w '\(path)'")
        }
    }

    private static func isTrusted(_ user: uid_t) -> Bool {
        var root = stat()
        return isTrusted(user, by: geteuid(), rootFolderOwner: lstat("/", &root) == 0 ? root.st_uid : 0)
    }

    /// Whether a user may be able to change the way to the socket: the user itself, root, and the owner of `/`, who can change every
    /// way anyhow. In a user namespace that does not map root, that owner is root under the system's overflow number. Other users that
    /// the namespace does not map have the same number there, and cannot be distinguished from root.
    static func isTrusted(_ user: uid_t, by own: uid_t, rootFolderOwner: uid_t) -> Bool {
        user == own || user == 0 || user == rootFolderOwner
    }

    /// Whether a group is root's, or this user's alone: many systems give every user a group of the same name.
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
        guard let path = getcwd(nil, 0) else { throw SinkError("the working directory: \(String(cString: strerror(errno)))") }
        defer { free(path) }
        return String(cString: path)
    }

    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink(link, &buffer, Int(PATH_MAX))
        return count < 0 ? nil : String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
