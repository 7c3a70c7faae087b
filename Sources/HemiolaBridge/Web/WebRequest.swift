internal import NIOHTTP1

/// The target of an HTTP request: its decoded path and its token.
struct WebRequest {
    /// The decoded path; it begins with a slash.
    let path: String
    /// The value of `token` in the query.
    let queryToken: String?

    /// - Returns: nil for a target that is not an absolute path, or whose percent-encoding is invalid.
    init?(target: String) {
        guard target.utf8.first == UInt8(ascii: "/") else { return nil }
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
            .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = Self.decode(parts[0]) else { return nil }
        self.path = path
        queryToken = parts.count < 2 ? nil : Self.value(of: "token", in: parts[1])
    }

    /// The names of the folders and the file of the path; nil for a path that must not be served: with `.`, `..`, a hidden name, or an
    /// empty name before its end. A path that ends with a slash has an empty last name.
    var names: [Substring]? {
        let names = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard names.dropLast().allSatisfy({ !$0.isEmpty }), names.allSatisfy({ !$0.hasPrefix(".") }) else { return nil }
        return names
    }

    /// Decodes percent-encoding.
    ///
    /// - Returns: nil if it is invalid, or the result is not UTF-8 or contains control characters.
    private static func decode(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
            bytes.append(high << 4 | low)
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The first value of a key in a query.
    private static func value(of key: String, in query: Substring) -> String? {
        for item in query.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0] == key { return parts.count == 2 ? decode(parts[1]) : "" }
        }
        return nil
    }
}
