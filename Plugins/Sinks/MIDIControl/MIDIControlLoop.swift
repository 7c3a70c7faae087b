internal import Hemiola
internal import HemiolaOutput
internal import HemiolaSignal
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The thread that reads a MIDI device and submits controls.
final class MIDIControlLoop: Sendable {
    /// Bytes that are read at once. Of the values of a controller among them, the last counts.
    private static let blockSize = 1024

    private let path: String
    private let map: MIDIControlMap
    private let channel: Int?
    private let context: SinkContext
    /// Controls whose refusal was reported.
    private let refused = Mutex<Set<String>>([])

    init(path: String, map: MIDIControlMap, channel: Int?, context: SinkContext) {
        self.path = path
        self.map = map
        self.channel = channel
        self.context = context
    }

    /// Reads until the other end of `stop` is closed. Closes both descriptors.
    func run(device first: Int32, stop: Int32) {
        var device = first
        var parser = MIDIParser()
        var buffer = [UInt8](repeating: 0, count: Self.blockSize)
        var attempts = 0
        while true {
            var requests = [
                pollfd(fd: stop, events: Int16(POLLIN), revents: 0), pollfd(fd: device, events: Int16(POLLIN), revents: 0),
            ]
            // A negative descriptor is ignored: the device is gone.
            let pause = device >= 0 ? -1 : Int32(RetryDelay.seconds(after: attempts) * 1000)
            guard poll(&requests, 2, pause) >= 0 || errno == EINTR else { break }
            if requests[0].revents != 0 { break }
            if device < 0 {
                device = (try? MIDIDevice.open(path, for: .input)) ?? -1
                attempts += 1
                if device >= 0 {
                    context.inform("\(path): connected again", [])
                    (attempts, parser) = (0, MIDIParser())
                }
            } else if requests[1].revents != 0 {
                let count = read(device, &buffer, buffer.count)
                let code = errno
                if count > 0 {
                    submit(parser.messages(in: buffer[..<count]))
                } else if count == 0 || code != EAGAIN && code != EINTR {
                    let cause = MIDIDevice.cause(count == 0 ? EIO : code)
                    context.warn("\(path): the device is gone: \(cause); trying to connect again")
                    close(device)
                    (device, attempts) = (-1, 1)
                }
            }
        }
        if device >= 0 { close(device) }
        close(stop)
    }

    /// Submits the controls of messages that arrived together.
    private func submit(_ messages: [MIDIMessage]) {
        var values: [UInt8: Int] = [:]
        for (index, message) in messages.enumerated() where message.isController { values[message[1]] = index }
        for (index, message) in messages.enumerated() {
            if let channel, message.status < 0xF0, Int(message.status & 0x0F) + 1 != channel { continue }
            if message.isController, values[message[1]] != index, map.isAbsolute(controller: Int(message[1])) { continue }
            guard let control = map.control(for: message, in: context.catalog) else { continue }
            context.controls.submit(control, from: context.name) { [self] reply in report(reply, to: control) }
        }
    }

    /// Reports the first refusal of each control.
    private func report(_ reply: ControlReply, to control: Control) {
        guard case .refused(let reason) = reply, refused.withLock({ $0.insert(control.name).inserted }) else { return }
        context.warn("\(context.name): \(control.name): \(reason)")
    }
}

extension MIDIParser {
    /// The messages that end in these bytes.
    mutating func messages(in bytes: some Sequence<UInt8>) -> [MIDIMessage] {
        bytes.compactMap { parse($0) }
    }
}
