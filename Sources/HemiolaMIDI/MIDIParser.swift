/// Reads the bytes of MIDI 1.0 as messages: running status, and clock bytes between the bytes of other messages.
///
/// System exclusive messages are skipped, whatever their length; undefined and incomplete messages too. Constant memory and cost per
/// byte; every sequence of bytes is accepted. Source: MIDI 1.0 Detailed Specification 4.2.1, appendix A.
public struct MIDIParser: Sendable {
    /// The status that data bytes belong to; 0: they are skipped.
    private var status: UInt8 = 0
    private var first: UInt8?

    /// A parser that has read nothing.
    public init() {}

    /// Reads a byte.
    ///
    /// - Returns: The message that ends with it, if any.
    public mutating func parse(_ byte: UInt8) -> MIDIMessage? {
        if byte >= 0xF8 { return MIDIMessage(status: byte) }
        if byte >= 0x80 {
            status = MIDIMessage.dataCount(ofStatus: byte) ?? 0 > 0 ? byte : 0
            first = nil
            return MIDIMessage(status: byte)
        }
        guard status != 0 else { return nil }
        if let first {
            self.first = nil
            return complete(first, byte)
        }
        if MIDIMessage.dataCount(ofStatus: status) == 1 { return complete(byte, 0) }
        first = byte
        return nil
    }

    /// The message of the current status. Channel messages may follow without a status byte of their own.
    private mutating func complete(_ first: UInt8, _ second: UInt8) -> MIDIMessage? {
        defer { if status >= 0xF0 { status = 0 } }
        return MIDIMessage(status: status, first, second)
    }
}
