/// The syntax of addresses of Open Sound Control.
public enum OSCAddress {
    /// What is wrong with an address; nil: nothing. A pattern for several addresses is none.
    ///
    /// - Returns: A sentence for a message, with the address.
    public static func fault(in address: String) -> String? {
        guard address.hasPrefix("/") else { return "\"\(address)\" is not an OSC address; it begins with a slash" }
        let forbidden = address.unicodeScalars.first { $0.value <= 0x20 || $0.value >= 0x7F || "#*,?[]{}".unicodeScalars.contains($0) }
        guard forbidden == nil else {
            return "\"\(address)\" is not an OSC address: spaces, #*,?[]{} and non-ASCII characters are not allowed"
        }
        return nil
    }

    /// A name as a part of an address: characters that are not allowed become `_`.
    public static func part(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.map { fault(in: "/\($0)") == nil && $0 != "/" ? $0 : "_" }))
    }
}
