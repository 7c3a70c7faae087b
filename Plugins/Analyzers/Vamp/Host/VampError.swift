/// A Vamp library or plugin cannot be used.
package struct VampError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line: what is wrong with which library or plugin, and what to do.
    package var message: String

    init(_ message: String) { self.message = message }

    package var description: String { message }
}
