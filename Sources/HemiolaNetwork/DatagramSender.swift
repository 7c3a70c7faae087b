internal import Glibc
internal import Hemiola
public import HemiolaSystem
internal import Synchronization

/// Sends messages as UDP datagrams to one host or group. Thread-safe; no call blocks.
///
/// A name is resolved on a thread of its own, again and again until it is found, and again when the network has been unreachable for some
/// seconds; an address takes no thread. A message that cannot be sent now is lost, and counted.
///
/// Cost: one `send` per message, about 3 µs.
public final class DatagramSender: PacketSender {
    /// Options of the socket.
    public struct Options: Sendable, Hashable {
        /// The name of the network interface for a multicast group; nil: that of the system's routes.
        public var interface: String?
        /// The number of routers that a multicast message can pass, plus 1.
        public var multicastHops = 1

        /// The system's interface and one hop.
        public init(interface: String? = nil, multicastHops: Int = 1) {
            self.interface = interface
            self.multicastHops = multicastHops
        }
    }

    /// Seconds of failures after which a name is resolved again: its address may have changed.
    private static let faultTime = 5.0

    private enum SendResult {
        /// The number of earlier messages that the receiver refused.
        case sent(Int)
        case lost(String?)
    }

    private struct State {
        var descriptor: Int32 = -1
        /// Why there is no socket; nil: the name is not resolved yet.
        var reason: String?
        var isClosed = false
        var isResolving = false
        /// The time of the first of the failures without a message that was sent; nil: the last message was sent.
        var faultyFrom: Double?
    }

    private let target: NetworkTarget
    private let options: Options
    private let losses: LossReport
    private let state = Mutex(State())
    private let wakeUp = Condition()

    /// A sender for a target. The socket is made by ``start()``.
    public init(_ target: NetworkTarget, options: Options = Options(), losses: LossReport) {
        self.target = target
        self.options = options
        self.losses = losses
    }

    deinit {
        state.withLock { state in
            if state.descriptor >= 0 { closeSocket(state.descriptor) }
        }
    }

    /// Makes the socket of an address, or begins to resolve a name.
    ///
    /// - Throws: The interface does not exist, or the system refuses a socket.
    public func start() throws(Problem) {
        switch SocketAddress.resolve(target, isNumeric: true) {
        case .success(let address):
            let descriptor = try makeSocket(address)
            state.withLock { $0.descriptor = descriptor }
        case .failure:
            beginResolving()
        }
    }

    /// Sends a message, or counts it as lost.
    public func send(_ packet: [UInt8]) {
        let now = MonotonicTime.now
        var isStale = false
        let result: SendResult = state.withLock { state in
            guard state.descriptor >= 0 else { return .lost(state.reason) }
            // An error that the receiver's system returned for an earlier message is reported by the next call, which sends nothing.
            var refused = 0
            for _ in 0..<2 {
                let count = packet.withUnsafeBytes { sendBytes(state.descriptor, $0) }
                if count >= 0 {
                    state.faultyFrom = nil
                    return .sent(refused)
                }
                guard errno == ECONNREFUSED else { break }
                refused += 1
            }
            let code = errno
            let from = state.faultyFrom ?? now
            state.faultyFrom = from
            if code != EAGAIN, code != ECONNREFUSED, now - from > Self.faultTime, !state.isResolving { isStale = true }
            return .lost(Self.text(of: code))
        }
        switch result {
        case .sent(0): losses.send(at: now)
        case .sent(let refused): losses.lose(refused, because: Self.text(of: ECONNREFUSED), at: now)
        case .lost(let reason): losses.lose(1, because: reason, at: now)
        }
        if isStale { beginResolving() }
    }

    /// Closes the socket, and reports losses.
    @discardableResult
    public func close() -> String? {
        let descriptor = state.withLock { state in
            defer { (state.descriptor, state.isClosed, state.reason) = (-1, true, "the output is closed") }
            return state.descriptor
        }
        wakeUp.locked { wakeUp.broadcast() }
        if descriptor >= 0 { closeSocket(descriptor) }
        losses.close()
        // Whether a datagram has arrived is not known.
        return nil
    }

    private static func text(of code: Int32) -> String {
        switch code {
        case EAGAIN, ENOBUFS: "the network accepts no more messages at this rate"
        case ECONNREFUSED: "Connection refused; start the program that receives there"
        case EMSGSIZE: "the message is too long for a datagram"
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN: "\(SystemCallError(number: code)); check the network"
        case EACCES: "\(SystemCallError(number: code)); a broadcast address needs the address of its network"
        default: SystemCallError(number: code).description
        }
    }

    // MARK: - Names

    private func beginResolving() {
        let isNew = state.withLock { state in
            defer { state.isResolving = true }
            return !state.isResolving && !state.isClosed
        }
        if isNew { startThread { [self] in resolve() } }
    }

    private func resolve() {
        var delay = RetryDelay(first: 1, longest: 30)
        while !state.withLock({ $0.isClosed }) {
            let fault: String
            switch SocketAddress.resolve(target, isNumeric: false) {
            case .success(let address):
                do throws(Problem) {
                    return replaceSocket(try makeSocket(address))
                } catch {
                    fault = error.message
                }
            case .failure(let error): fault = "cannot resolve the name: \(error.message)"
            }
            state.withLock { if $0.descriptor < 0 { $0.reason = fault } }
            losses.lose(0, because: fault)
            delay.noteFailure(at: MonotonicTime.now)
            wakeUp.lock()
            while MonotonicTime.now < delay.nextAttempt, !state.withLock({ $0.isClosed }) { wakeUp.wait(until: delay.nextAttempt) }
            wakeUp.unlock()
        }
    }

    private func replaceSocket(_ descriptor: Int32) {
        let old = state.withLock { state in
            state.isResolving = false
            if state.isClosed { return descriptor }
            defer { (state.descriptor, state.faultyFrom) = (descriptor, nil) }
            return state.descriptor
        }
        if old >= 0 { closeSocket(old) }
    }

    // MARK: - Socket

    private func makeSocket(_ address: SocketAddress) throws(Problem) -> Int32 {
        let descriptor = try SocketType.makeSocket(address, SocketType.datagram)
        do throws(Problem) {
            try set(descriptor, SOL_SOCKET, SO_BROADCAST, Int32(1))
            if address.isMulticast { try configureMulticast(descriptor, address) }
            guard address.withPointer({ connect(descriptor, $0, $1) }) == 0 else {
                throw Problem(Self.text(of: errno))
            }
            return descriptor
        } catch {
            closeSocket(descriptor)
            throw error
        }
    }

    private func configureMulticast(_ descriptor: Int32, _ address: SocketAddress) throws(Problem) {
        var index: UInt32 = 0
        if let interface = options.interface {
            index = if_nametoindex(interface)
            if index == 0 { throw Problem("there is no network interface \"\(interface)\"; see: ip link") }
        }
        let hops = Int32(options.multicastHops)
        if address.domain == AF_INET6 {
            try set(descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, hops)
            if index > 0 { try set(descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, Int32(index)) }
        } else {
            try set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_TTL, hops)
            if index > 0 {
                var request = ip_mreqn()
                request.imr_ifindex = Int32(index)
                try set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, request)
            }
        }
    }

    private func set<Value>(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Value) throws(Problem) {
        // Safe: the pointer is valid during the call, and the length is that of the value.
        let result = withUnsafePointer(to: value) { setsockopt(descriptor, level, option, $0, socklen_t(MemoryLayout<Value>.size)) }
        guard result == 0 else { throw Problem("cannot configure a socket: \(SystemCallError.last)") }
    }
}
