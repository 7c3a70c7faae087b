internal import HemiolaSignal

/// The value of a field in a record that is written once per stream: as JSON, or as the fields of a table's row.
indirect enum RecordTree: Equatable {
    case null
    case text(String)
    case integer(Int64)
    /// NaN is null.
    case number(Double, Unit)
    case list([RecordTree])
    case object([Member])

    struct Member: Equatable {
        var key: String
        var value: RecordTree

        init(_ key: String, _ value: RecordTree) {
            self.key = key
            self.value = value
        }
    }

    /// The tags of a sound file, null where it has none, in the order of ``RecordSchema/tags(isComplete:)``.
    static func tags(_ tags: SoundTags) -> [Member] {
        [
            Member("title", text(or: tags.title)), Member("artist", text(or: tags.artist)), Member("album", text(or: tags.album)),
            Member("track", text(or: tags.track)), Member("genre", text(or: tags.genre)),
            Member("year", tags.year.map { .integer(Int64($0)) } ?? .null),
        ]
    }

    static func text(or text: String?) -> RecordTree { text.map { .text($0) } ?? .null }

    /// Calls a function with each value that is neither an object nor a list, and its path: `tags.title`, `features.a.b.mean[3]`.
    func forEachLeaf(at path: String, _ body: (_ path: String, _ value: RecordTree) -> Void) {
        switch self {
        case .object(let members): for member in members { member.value.forEachLeaf(at: "\(path).\(member.key)", body) }
        case .list(let elements): for (index, element) in elements.enumerated() { element.forEachLeaf(at: "\(path)[\(index)]", body) }
        default: body(path, self)
        }
    }
}

extension JSONBuffer {
    mutating func append(_ tree: RecordTree) {
        switch tree {
        case .null: append("null")
        case .text(let text): append(string: text)
        case .integer(let number): append(integer: number)
        case .number(let number, let unit): append(number, in: unit)
        case .list(let elements): appendList(elements) { $0.append($1) }
        case .object(let members): appendObject(members, key: \.key) { $0.append($1.value) }
        }
    }

    /// A field of a table: text as it is, nothing for null, numbers as in JSON.
    mutating func append(field tree: RecordTree) {
        switch tree {
        case .null: break
        case .text(let text): append(field: text)
        case .number(let number, _) where !number.isFinite: break
        default: append(tree)
        }
    }
}
