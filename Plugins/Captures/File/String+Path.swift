internal import HemiolaSystem

extension String {
    /// A path for messages: line breaks, control characters and direction marks are escaped, so that it stays on one line.
    var displayName: String { PathText.shown(self).onOneLine }

    /// What follows the last period of a path, in lower case.
    var pathExtension: String { split(separator: ".").last.map { $0.lowercased() } ?? "" }

    /// A path quoted for the shell, on one line, with `./` where a program could parse it as an option or a URL.
    var quotedForShell: String {
        // "-x.m4a" would be an option, "a:b.m4a" a URL.
        let isAmbiguous = hasPrefix("-") || !hasPrefix("/") && contains(":") && !contains("://")
        let path = isAmbiguous ? "./" + self : self
        let isNotUTF8 = PathText.nonUTF8Bytes(of: path) != nil
        guard isNotUTF8 || path.unicodeScalars.contains(where: \.isUnsafeForReaders) else {
            return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
        }
        var text = ""
        for scalar in path.unicodeScalars {
            if scalar == "'" || scalar == "\\" {
                text += "\\"
                text.unicodeScalars.append(scalar)
            } else if scalar.isUnsafeForReaders || isNotUTF8 && !scalar.isASCII {
                // Octal bytes, which bash, zsh and ksh accept in $'…'.
                for byte in PathText.bytes(of: String(scalar)) { text += "\\" + String(Int(byte) + 0o1000, radix: 8).dropFirst() }
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return "$'" + text + "'"
    }
}
