internal import HemiolaSystem

extension String {
    /// A path for messages: line breaks, control characters and direction marks are escaped, so that it stays on one line.
    var displayName: String {
        var text = ""
        for scalar in PathText.shown(self).unicodeScalars {
            if let escape = Self.escape(scalar) { text += escape } else { text.unicodeScalars.append(scalar) }
        }
        return text
    }

    /// A path quoted for the shell, on one line, with `./` where a program could parse it as an option or a URL.
    var quotedForShell: String {
        // "-x.m4a" would be an option, "a:b.m4a" a URL.
        let isAmbiguous = hasPrefix("-") || !hasPrefix("/") && contains(":") && !contains("://")
        let path = isAmbiguous ? "./" + self : self
        let isNotUTF8 = PathText.nonUTF8Bytes(of: path) != nil
        guard isNotUTF8 || path.unicodeScalars.contains(where: { Self.escape($0) != nil }) else {
            return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
        }
        var text = ""
        for scalar in path.unicodeScalars {
            if scalar == "'" || scalar == "\\" {
                text += "\\"
                text.unicodeScalars.append(scalar)
            } else if Self.escape(scalar) != nil || isNotUTF8 && !scalar.isASCII {
                // Octal bytes, which bash, zsh and ksh accept in $'…'.
                for byte in PathText.bytes(of: String(scalar)) { text += "\\" + String(Int(byte) + 0o1000, radix: 8).dropFirst() }
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return "$'" + text + "'"
    }

    /// The escape of a character that a terminal would interpret; nil for all others.
    private static func escape(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return "\\u{" + String(scalar.value, radix: 16) + "}"
        // Marks that change the writing direction can make a name look like another.
        case .format where (0x202a...0x202e).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value):
            return "\\u{" + String(scalar.value, radix: 16) + "}"
        default: return nil
        }
    }
}
