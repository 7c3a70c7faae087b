/// Takes apart the line of an event record: one flat object, as `RecordEncoder` writes it.
///
/// So a number in a table has the digits that it has in the JSON, and no field can be told in two ways.
struct FlatRecord {
    private let bytes: [UInt8]
    private var place = 0

    /// Key → text: strings as they are, numbers and flags as JSON writes them, nothing for `null`, lists as JSON.
    static func fields(of line: [UInt8]) -> [String: String] {
        var record = FlatRecord(bytes: line)
        return record.members()
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func members() -> [String: String] {
        var members: [String: String] = [:]
        place = 1
        while place < bytes.count, bytes[place] != UInt8(ascii: "}") {
            if bytes[place] == UInt8(ascii: ",") { place += 1 }
            let key = string()
            place += 1
            members[key] = value()
        }
        return members
    }

    private mutating func value() -> String {
        switch bytes[place] {
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "["): return list()
        default:
            let start = place
            while bytes[place] != UInt8(ascii: ","), bytes[place] != UInt8(ascii: "}") { place += 1 }
            let text = String(decoding: bytes[start..<place], as: UTF8.self)
            return text == "null" ? "" : text
        }
    }

    private mutating func list() -> String {
        let start = place
        while bytes[place] != UInt8(ascii: "]") {
            if bytes[place] == UInt8(ascii: "\"") { _ = string() } else { place += 1 }
        }
        place += 1
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private mutating func string() -> String {
        var text: [UInt8] = []
        place += 1
        while bytes[place] != UInt8(ascii: "\"") {
            if bytes[place] == UInt8(ascii: "\\") {
                place += 1
                text += escaped()
            } else {
                text.append(bytes[place])
            }
            place += 1
        }
        place += 1
        return String(decoding: text, as: UTF8.self)
    }

    /// What stands for the letter after a backslash. Only what is below U+0020 or a line separator is escaped by number.
    private mutating func escaped() -> [UInt8] {
        switch bytes[place] {
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "n"): return [0x0a]
        case UInt8(ascii: "f"): return [0x0c]
        case UInt8(ascii: "r"): return [0x0d]
        case UInt8(ascii: "u"):
            let digits = String(decoding: bytes[place + 1...place + 4], as: UTF8.self)
            place += 4
            return UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init).map { Array(String(Character($0)).utf8) } ?? []
        default: return [bytes[place]]
        }
    }
}
