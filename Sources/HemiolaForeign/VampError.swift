/// A Vamp library or plugin cannot be used.
public struct VampError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line: what is wrong with which library or plugin, and what to do.
    public var message: String

    init(_ message: String) { self.message = message }

    public var description: String { message }
}
