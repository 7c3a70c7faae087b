extension String {
    /// The width on a terminal, in columns. O(n).
    public var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The text, or its start and end with an ellipsis between when it is too wide. Two thirds are the end, which identifies a path
    /// best.
    ///
    /// - Parameters:
    ///   - width: The largest width, in columns.
    ///   - dots: The ellipsis, of one column.
    public func shortened(to width: Int, dots: String) -> String {
        guard columns > width else { return self }
        guard width > 1 else { return width == 1 ? dots : "" }
        var (head, tail) = ("", "")
        var free = width - 1
        let headWidth = free / 3
        for character in self {
            guard head.columns + character.columns <= headWidth else { break }
            head.append(character)
        }
        free -= head.columns
        for character in reversed() {
            guard character.columns <= free else { break }
            tail.insert(character, at: tail.startIndex)
            free -= character.columns
        }
        return head + dots + tail
    }
}

extension Character {
    /// East Asian wide characters and emoji take two columns (Unicode Standard Annex #11), by their blocks.
    package var columns: Int {
        switch unicodeScalars.first!.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}
