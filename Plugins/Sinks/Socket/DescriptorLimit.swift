#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// How many clients the system lets a process have.
enum DescriptorLimit {
    /// What everything else needs.
    private static let others = 64

    /// Raises the process's limit of open files as far as it must and may.
    ///
    /// - Returns: For how many clients there is room, and why there are not as many as asked for.
    static func raise(forClients clients: Int) -> (clients: Int, remark: String?) {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return (clients, nil) }
        let wanted = rlim_t(clients + others)
        if limit.rlim_cur >= wanted { return (clients, nil) }
        let hard = limit.rlim_max
        limit.rlim_cur = min(wanted, hard)
        if setrlimit(resource, &limit) != 0 { getrlimit(resource, &limit) }
        if limit.rlim_cur >= wanted { return (clients, nil) }
        let room = max(1, Int(limit.rlim_cur) - others)
        return (
            room,
            "there is room for \(room) clients and not \(clients): a process may have \(limit.rlim_cur) files open here (ulimit -Hn)"
        )
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
