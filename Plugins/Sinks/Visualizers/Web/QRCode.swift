internal import CQREncode
internal import Glibc
internal import HemiolaSystem

extension SharedLibrary {
    static let qrencode = SharedLibrary(
        "libqrencode", soname: "libqrencode.so.4", package: "libqrencode4", licence: "LGPL-2.1-or-later", relation: .suggests,
        use: "the QR code of the web sink", versionSymbol: .textFunction("QRcode_APIVersionString"))
}

/// A QR code (ISO/IEC 18004) for a terminal.
struct QRCode {
    /// Light modules around the code: the standard requires four.
    private static let margin = 4

    private let width: Int
    /// Whether the modules are dark, row by row.
    private let modules: [Bool]

    /// - Throws: A ``Problem`` if libqrencode is not installed, or the text is too long.
    init(_ text: String) throws(Problem) {
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: Int32 = 0
        if let message = cqrencode(text, &bytes, &count) { throw Problem(String(cString: message)) }
        defer { free(bytes) }
        width = Int(count)
        modules = (0..<width * width).map { bytes?[$0] == 1 }
    }

    /// The lines of the code: each character shows two modules, one above the other. Black on white, whatever the terminal's colours are.
    var lines: [String] {
        let range = -Self.margin..<width + Self.margin
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
            let characters = range.map { column in
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (false, false): " "
                case (true, false): "▀"
                case (false, true): "▄"
                case (true, true): "█"
                }
            }
            return "\u{1B}[30;107m\(characters.joined())\u{1B}[0m"
        }
    }

    private func isDark(_ row: Int, _ column: Int) -> Bool {
        (0..<width).contains(row) && (0..<width).contains(column) && modules[row * width + column]
    }
}
