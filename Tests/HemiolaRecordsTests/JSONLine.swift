import HemiolaRecords
import Testing

extension JSONValue {
    /// The value of a text, in which no object has a key twice.
    init(line: String) throws {
        self = try JSONValue(Array(line.utf8))
        try #require(repeatedKey == nil)
    }

    private var repeatedKey: String? {
        switch self {
        case .object(let members):
            Dictionary(grouping: members, by: \.key).first { $1.count > 1 }?.key ?? members.lazy.compactMap(\.value.repeatedKey).first
        case .list(let elements): elements.lazy.compactMap(\.repeatedKey).first
        default: nil
        }
    }

    /// The keys of an object, in their order.
    var keys: [String] { members?.map(\.key) ?? [] }
}
