internal import HemiolaSignal

extension String {
    /// The name of a file as it can stand in a sentence: what would break the line, or hide in it, is written out.
    var shown: String {
        var text = ""
        for scalar in PathText.shown(self).unicodeScalars {
            if let escape = Self.escape(scalar) { text += escape } else { text.unicodeScalars.append(scalar) }
        }
        return text
    }

    /// The name of a file as a shell takes it, on one line, and as no program takes it for an option or an address.
    var quotedForShell: String {
        // "-x.m4a" would be an option, "a:b.m4a" an address.
        let isAmbiguous = hasPrefix("-") || !hasPrefix("/") && contains(":") && !contains("://")
        let path = isAmbiguous ? "./" + self : self
        let isForeign = PathText.foreignBytes(of: path) != nil
        guard isForeign || path.unicodeScalars.contains(where: { Self.escape($0) != nil }) else {
            return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
        }
        var text = ""
        for scalar in path.unicodeScalars {
            if scalar == "'" || scalar == "\\" {
                text += "\\"
                text.unicodeScalars.append(scalar)
            } else if Self.escape(scalar) != nil || isForeign && !scalar.isASCII {
                // Bytes, octal: what bash, zsh and ksh read between $' and '.
                for byte in PathText.bytes(of: String(scalar)) { text += "\\" + String(Int(byte) + 0o1000, radix: 8).dropFirst() }
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return "$'" + text + "'"
    }

    /// How a character that a terminal would act upon is written out; nil for all others.
    private static func escape(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return "\\u{" + String(scalar.value, radix: 16) + "}"
        // Marks that turn the direction of writing can make a name look like another.
        case .format where (0x202a...0x202e).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value):
            return "\\u{" + String(scalar.value, radix: 16) + "}"
        default: return nil
        }
    }
}
