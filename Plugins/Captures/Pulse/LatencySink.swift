internal import HemiolaSystem

/// The name of the null sink of a latency test. It identifies the process that created it, so that the next test can unload the sink of
/// a process that was killed.
enum LatencySink {
    /// A process.
    struct Owner: Sendable, Hashable {
        var identifier: Int32
        /// Identifier of boot and PID namespace, because a sound server may have clients on other machines and in containers.
        var host: String

        /// This process.
        static var current: Owner { Owner(identifier: CurrentProcess.identifier, host: currentHost) }

        private static let currentHost: String = {
            let boot = (try? FileSystem.bytes(of: "/proc/sys/kernel/random/boot_id", count: 8)) ?? []
            let letters = boot.filter { (48...57).contains($0) || (97...102).contains($0) }
            // `pid:[4026531836]`
            let namespace = FileSystem.linkTarget(of: "/proc/self/ns/pid").flatMap { Int($0.filter(\.isNumber)) } ?? 0
            return String(decoding: letters, as: UTF8.self) + "x" + String(namespace, radix: 16)
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
        // Only a process that does not exist has used none.
        return MonotonicTime.processorTime(of: owner.identifier) == 0
    }
}
