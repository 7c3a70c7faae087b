/// Inserts the page script into an HTML document as the first element of `<head>`.
///
/// Only the beginning of the document is read, by the rules of the HTML standard: byte order mark, white space, comments, document type,
/// `<html>`, `<head>`. If the document omits `<head>`, the script is inserted where the browser begins it. The document type stays first,
/// because otherwise the browser would use quirks mode.
struct HTMLInjection {
    static let element = Array(#"<script src="/hemiola.js"></script>"#.utf8)

    private let document: [UInt8]
    private var position = 0

    /// The document with the script.
    static func injecting(into document: [UInt8]) -> [UInt8] {
        var scanner = HTMLInjection(document: document)
        let place = scanner.findHead()
        return Array(document[..<place]) + element + document[place...]
    }

    private init(document: [UInt8]) {
        self.document = document
    }

    /// The position after `<head>`, or where it begins implicitly.
    private mutating func findHead() -> Int {
        if document.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        var place = position
        while true {
            skipSpace()
            if takeComment() { continue }
            if startsWith("<!") || startsWith("<?") {
                skipTag()
                place = position
            } else if isTag("html") {
                skipTag()
                place = position
            } else if isTag("head") {
                skipTag()
                return position
            } else {
                return place
            }
        }
    }

    private mutating func skipSpace() {
        while position < document.count, [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(document[position]) { position += 1 }
    }

    /// - Returns: Whether a comment begins here; it is skipped.
    private mutating func takeComment() -> Bool {
        guard startsWith("<!--") else { return false }
        position += 4
        // `<!-->` and `<!--->` are empty comments.
        if startsWith(">") || startsWith("->") {
            position += startsWith(">") ? 1 : 2
            return true
        }
        while position < document.count, !startsWith("-->") { position += 1 }
        position = min(document.count, position + 3)
        return true
    }

    /// Skips up to the end of a tag. A `>` in a quoted value does not end it.
    private mutating func skipTag() {
        var quote: UInt8?
        while position < document.count {
            let byte = document[position]
            position += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return
            }
        }
    }

    /// Whether a start tag of this name begins here.
    private func isTag(_ name: String) -> Bool {
        guard startsWith("<\(name)") else { return false }
        let end = position + 1 + name.utf8.count
        return end < document.count && [0x20, 0x09, 0x0A, 0x0C, 0x0D, UInt8(ascii: "/"), UInt8(ascii: ">")].contains(document[end])
    }

    /// Compares without case.
    private func startsWith(_ text: String) -> Bool {
        guard position + text.utf8.count <= document.count else { return false }
        return zip(document[position...], text.utf8).allSatisfy { byte, expected in
            byte == expected || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) && byte | 0x20 == expected
        }
    }
}
