internal import HemiolaSystem

/// The limit of open file descriptors, which bounds the number of clients.
public enum DescriptorLimit {
    /// Descriptors that the rest of the program needs.
    private static let reserve = 64

    /// Raises the process's soft limit of open files, up to the hard limit, so that it suffices for the clients.
    ///
    /// - Parameters:
    ///   - clients: The number of clients that are requested.
    ///   - others: Descriptors of further connections, and of the files that they read.
    /// - Returns: The number of clients that the limit allows, and a warning if it is smaller than requested.
    public static func raise(forClients clients: Int, others: Int = 0) -> (clients: Int, warning: String?) {
        let reserve = reserve + others
        guard let limit = raiseOpenFileLimit(to: clients + reserve), limit < clients + reserve else { return (clients, nil) }
        let allowed = max(1, limit - reserve)
        return (
            allowed,
            "max_clients is reduced from \(clients) to \(allowed): the limit of open files is \(limit); raise it with ulimit -Hn"
        )
    }
}
