internal import Glibc
internal import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSystem
internal import Synchronization

/// The thread that reads a MIDI device and submits controls.
final class MIDIControlLoop: Sendable {
    /// Bytes that are read at once. Of the values of a controller among them, the last counts.
    private static let blockSize = 1024

    private let path: String
    private let routes: ControlRoutes
    private let channel: Int?
    private let context: SinkContext
    /// Controls whose refusal was reported.
    private let refused = Mutex<Set<String>>([])

    private let wakeUp: WakeUp
    private let isStopped = Atomic<Bool>(false)

    /// - Throws: No file descriptor is left.
    init(path: String, routes: ControlRoutes, channel: Int?, context: SinkContext) throws(SystemCallError) {
        wakeUp = try WakeUp()
        self.path = path
        self.routes = routes
        self.channel = channel
        self.context = context
    }

    /// Ends `run`.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        wakeUp.signal()
    }

    /// Reads until `stop`. Closes the device.
    func run(device first: Int32) {
        var device = first
        var parser = MIDIParser()
        var pedals = MIDIPedals()
        var buffer = [UInt8](repeating: 0, count: Self.blockSize)
        var delay = RetryDelay(longest: 2)
        while !isStopped.load(ordering: .acquiring) {
            if device < 0 {
                let pause = delay.nextAttempt - MonotonicTime.now
                if pause > 0 {
                    wakeUp.wait(seconds: pause)
                    continue
                }
                device = (try? MIDIDevice.open(path, for: .input)) ?? -1
                if device >= 0 {
                    context.inform("\(path): connected again", [])
                    delay.reset()
                    parser = MIDIParser()
                } else {
                    delay.noteFailure(at: MonotonicTime.now)
                }
            } else if wakeUp.wait(seconds: nil, for: device).isReadable {
                let count = read(device, &buffer, buffer.count)
                let code = errno
                if count > 0 {
                    submit(parser.messages(in: buffer[..<count]), &pedals)
                } else if count == 0 || code != EAGAIN && code != EINTR {
                    let cause = MIDIDevice.cause(count == 0 ? EIO : code)
                    context.warn("\(path): the device is gone: \(cause); trying to connect again")
                    close(device)
                    device = -1
                    delay.noteFailure(at: MonotonicTime.now)
                }
            }
        }
        if device >= 0 { close(device) }
    }

    /// Submits the controls of messages that arrived together.
    private func submit(_ messages: [MIDIMessage], _ pedals: inout MIDIPedals) {
        let own = messages.filter { channel == nil || $0.channel == nil || $0.channel == channel }
        for case (_, .success(let control)) in routes.controls(for: own.flatMap { $0.received(&pedals) }) {
            context.controls.submit(control, from: context.name) { [self] reply, _ in report(reply, to: control) }
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

/// The last value of each controller of each channel: a pedal is pressed when its value rises above 63.
struct MIDIPedals {
    private static let threshold: UInt8 = 63
    private var values = [UInt8](repeating: 0, count: MIDIMessage.channels.count * 128)

    /// Notes a value.
    ///
    /// - Returns: Whether the pedal is pressed by it.
    mutating func press(_ message: MIDIMessage) -> Bool {
        let place = Int(message.status & 0x0F) * 128 + Int(message[1])
        defer { values[place] = message[2] }
        return values[place] <= Self.threshold && message[2] > Self.threshold
    }
}

extension MIDIMessage {
    /// 1…16; nil for a message without a channel.
    fileprivate var channel: Int? { status < 0xF0 ? Int(status & 0x0F) + 1 : nil }

    /// The message in the words of a map of controls; a controller is a value, and the steps of a wheel without end.
    fileprivate func received(_ pedals: inout MIDIPedals) -> [ReceivedMessage] {
        let fields = [MIDISource.channel: ParameterValue.integer(channel ?? 0)]
        let number = Int(self[1])
        if isNoteOn || isNoteOff {
            return [
                ReceivedMessage(
                    MIDISource.note(number), [.integer(isNoteOn ? Int(self[2]) : 0)], isStart: isNoteOn, fields: fields)
            ]
        }
        if isController {
            let value = Int(self[2])
            let isPressed = pedals.press(self)
            let whole = ReceivedMessage(MIDISource.controller(number), [.integer(value)], isStart: isPressed, fields: fields)
            let steps = value < 64 ? value : value - 128
            if steps == 0 || value == 64 { return [whole] }
            return [whole, ReceivedMessage(MIDISource.steps(number), [.integer(steps)], isRelative: true, fields: fields)]
        }
        if isProgramChange { return [ReceivedMessage(MIDISource.program(number), [.integer(number)], fields: fields)] }
        return []
    }
}
