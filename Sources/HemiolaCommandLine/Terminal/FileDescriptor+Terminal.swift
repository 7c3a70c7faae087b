internal import HemiolaSystem

extension FileDescriptor {
    /// Where output goes.
    enum Destination {
        case terminal, file, pipe
        /// The null device or another character device, or a closed descriptor.
        case nowhere
    }

    /// Where output to this descriptor goes.
    var destination: Destination {
        if isTerminal { return .terminal }
        switch try? status().kind {
        case .file: return .file
        case .device, nil: return .nowhere
        default: return .pipe
        }
    }

    /// Whether it is a terminal that can move its cursor.
    var isScreen: Bool { isTerminal && Self.canMoveCursor(EnvironmentVariable.value("TERM")) }

    /// - Parameter terminal: The value of TERM.
    static func canMoveCursor(_ terminal: String?) -> Bool { terminal != nil && terminal != "dumb" }

    /// The columns of a terminal, 80 where they are not known.
    var columns: Int { terminalSize?.columns ?? 80 }

    /// Writes all of a text; blocks while the descriptor accepts nothing.
    func writeAll(_ text: String) throws(SystemCallError) {
        try writeAll(Array(text.utf8))
    }
}
