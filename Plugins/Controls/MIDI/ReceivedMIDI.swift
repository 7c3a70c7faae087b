internal import HemiolaFieldMaps
internal import HemiolaMIDI
internal import HemiolaRecords

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
    var channel: Int? { status < 0xF0 ? Int(status & 0x0F) + 1 : nil }

    /// The message in the words of a map of controls; a controller is a value, and the steps of a wheel without end.
    func received(_ pedals: inout MIDIPedals) -> [ReceivedMessage] {
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
