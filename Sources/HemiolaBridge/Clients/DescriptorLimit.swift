internal import Glibc

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
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return (clients, nil) }
        let required = rlim_t(clients + reserve)
        if limit.rlim_cur >= required { return (clients, nil) }
        let hard = limit.rlim_max
        limit.rlim_cur = min(required, hard)
        if setrlimit(resource, &limit) != 0 { getrlimit(resource, &limit) }
        if limit.rlim_cur >= required { return (clients, nil) }
        let allowed = max(1, Int(limit.rlim_cur) - reserve)
        return (
            allowed,
            "max_clients is reduced from \(clients) to \(allowed): the limit of open files is \(limit.rlim_cur); raise it with ulimit -Hn"
        )
    }

    private static let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
}
