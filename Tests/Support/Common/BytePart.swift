/// A part of a message in a test: text, or numbers 0…255.
public struct BytePart: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    public init(stringLiteral text: String) {
        self.init(Array(text.utf8))
    }

    public init(arrayLiteral bytes: UInt8...) {
        self.init(bytes)
    }

    /// So many zeros.
    public static func zeros(_ count: Int) -> BytePart {
        BytePart([UInt8](repeating: 0, count: count))
    }
}

/// The bytes of a message from its parts: `bytes("/a\0\0", ",i\0\0", [0, 0, 0, 1])`.
public func bytes(_ parts: BytePart...) -> [UInt8] {
    parts.flatMap(\.bytes)
}
