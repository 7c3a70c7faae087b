public import Hemiola

/// A host and a port, as a setting names them.
public struct NetworkEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// The longest name of a host in the DNS, in bytes.
    private static let longestHost = 253

    /// A name, or an IPv4 or IPv6 address as text, without brackets.
    public var host: String
    /// 1…65535.
    public var port: Int

    /// A host and a port.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST`, `HOST:PORT`, `[IPv6]`, `[IPv6]:PORT` or a bare IPv6 address. Names are not resolved.
    ///
    /// - Parameters:
    ///   - text: The value of a setting.
    ///   - defaultPort: The port where the text has none.
    ///   - key: The key of the setting, for the error.
    /// - Throws: An error that names the text and the form.
    public init(parsing text: String, defaultPort: Int, at key: String) throws(Problem) {
        var host = text[...]
        var port: Substring?
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            // Behind the bracket only `:PORT` is a port.
            if !rest.isEmpty { port = rest.hasPrefix(":") ? rest.dropFirst() : "" }
        } else if !text.contains("/"), text.count(where: { $0 == ":" }) == 1, let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        }
        let isHost =
            !host.isEmpty && host.utf8.count <= Self.longestHost
            && host.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7f && !"/[]".unicodeScalars.contains($0) }
        guard isHost else {
            throw Problem("\"\(text)\" is no host; write HOST, HOST:PORT or [IPv6]:PORT", at: key)
        }
        self.init(host: String(host), port: defaultPort)
        guard let port else { return }
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port), (1...65_535).contains(number) else {
            throw Problem("\"\(port)\" in \"\(text)\" is no port; a port is a number from 1 to 65535", at: key)
        }
        self.port = number
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
