internal import Glibc

/// The name of the null sink of a latency test. It identifies the process that created it, so that the next test can unload the sink of
/// a process that was killed.
enum LatencySink {
    /// A process.
    struct Owner: Sendable, Hashable {
        var identifier: Int32
        /// Identifier of boot and PID namespace, because a sound server may have clients on other machines and in containers.
        var host: String

        /// This process.
        static var current: Owner { Owner(identifier: getpid(), host: currentHost) }

        private static let currentHost: String = {
            var boot = [UInt8](repeating: 0, count: 8)
            let file = Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
            if file >= 0 {
                _ = Glibc.read(file, &boot, boot.count)
                _ = Glibc.close(file)
            }
            var namespace = stat()
            if stat("/proc/self/ns/pid", &namespace) != 0 { namespace.st_ino = 0 }
            let letters = boot.filter { (48...57).contains($0) || (97...102).contains($0) }
            return String(decoding: letters, as: UTF8.self) + "x" + String(namespace.st_ino, radix: 16)
        }()
    }

    private static let prefix = "hemiola_latency_"

    static func name(of owner: Owner) -> String { "\(prefix)\(owner.identifier)_\(owner.host)" }

    /// The process whose sink a module provides; nil for any other module.
    ///
    /// - Parameter argument: The argument of the module: words `key=value`.
    static func owner(inArgument argument: String) -> Owner? {
        guard let word = argument.split(separator: " ").first(where: { $0.hasPrefix("sink_name=\(prefix)") }) else { return nil }
        let parts = word.dropFirst("sink_name=\(prefix)".count).split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, let identifier = Int32(parts[0]), identifier > 0, !parts[1].isEmpty else { return nil }
        return Owner(identifier: identifier, host: String(parts[1]))
    }

    /// Whether a module provides the sink of a latency test whose process on this machine has ended.
    static func isAbandoned(_ argument: String, by current: Owner = .current) -> Bool {
        guard let owner = owner(inArgument: argument), owner.host == current.host, owner != current else { return false }
        return kill(owner.identifier, 0) != 0 && errno == ESRCH
    }
}
