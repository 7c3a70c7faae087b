internal import Hemiola

/// A list of tabs in a file, for `hemiola send tabs`. The running program checks the list; here only the names of members are checked, which
/// are often misspelled.
struct TabsFile {
    /// As long as a message can be.
    static let limit = 1 << 20
    private static let members = ["active", "tabs"]
    private static let tabMembers = ["id", "title", "icon", "path", "deprecated", "replaces"]
    /// The members that are paths.
    private static let paths = ["icon", "path"]

    /// The members of the message.
    let members: [JSONValue.Member]

    /// Reads a file. Relative paths of tabs become absolute: they are relative to the folder of the file.
    ///
    /// - Parameter path: `-` for standard input, with paths relative to the working directory.
    init(_ path: String) throws(Failure) {
        let bytes = try CommandInput.bytes(of: path, atMost: Self.limit, "the list of tabs is larger than 1 MiB")
        do {
            members = try Self.members(of: JSONValue(bytes), in: Self.folder(of: path))
        } catch {
            throw Failure("\(CommandInput.title(of: path)): \(error.message)", status: .inputFailed)
        }
    }

    /// - Parameter folder: The folder of relative paths, absolute.
    static func members(of value: JSONValue, in folder: String) throws(Problem) -> [JSONValue.Member] {
        guard let object = value.members else { throw Problem("not a JSON object; example: {\"active\":\"a\",\"tabs\":[…]}") }
        var result: [JSONValue.Member] = []
        for member in object {
            try check(member.key, in: Self.members)
            result.append(.init(member.key, member.key == "tabs" ? try tabs(member.value, in: folder) : member.value))
        }
        return result
    }

    private static func tabs(_ value: JSONValue, in folder: String) throws(Problem) -> JSONValue {
        guard let elements = value.elements else { return value }
        var tabs: [JSONValue] = []
        for element in elements {
            guard let object = element.members else { throw Problem("a tab is not a JSON object") }
            var members: [JSONValue.Member] = []
            for member in object {
                try check(member.key, in: tabMembers)
                if paths.contains(member.key), let path = member.value.string, isRelative(path) {
                    members.append(.init(member.key, .text("\(folder)/\(path)")))
                } else {
                    members.append(member)
                }
            }
            tabs.append(.object(members))
        }
        return .list(tabs)
    }

    private static func check(_ key: String, in known: [String]) throws(Problem) {
        if known.contains(key) { return }
        throw Problem("unknown member \"\(key)\"; \(key.suggestion(among: known, "members"))")
    }

    private static func isRelative(_ path: String) -> Bool {
        !path.isEmpty && !path.hasPrefix("/") && !path.contains("://")
    }

    private static func folder(of path: String) -> String {
        let working = FileSystem.workingFolder
        guard path != "-", let slash = path.lastIndex(of: "/") else { return working }
        let folder = path[..<slash]
        return path.hasPrefix("/") ? String(folder) : "\(working)/\(folder)"
    }
}
