/// A key of the live line.
enum LiveKey: Sendable, Hashable {
    case tap, lock, half, double, previous, next, quit

    /// All keys, at most 80 columns.
    static let help = "space tap, l lock, h half, d double tempo, arrows preset, q quit"

    /// The action of the key, as the live line shows it.
    var done: String {
        switch self {
        case .tap: "tap"
        case .lock: "lock tempo"
        case .half: "half tempo"
        case .double: "double tempo"
        case .previous: "previous preset"
        case .next: "next preset"
        case .quit: "quit"
        }
    }
}

/// Parses the bytes that a terminal sends into keys. An arrow key is an escape sequence (`ESC [ C`, or `ESC O C` in application mode), which
/// may arrive in parts. Other sequences and letters are skipped.
struct LiveKeyParser {
    private enum State {
        case ground, escape, sequence
    }

    private var state = State.ground

    mutating func keys(in bytes: some Sequence<UInt8>) -> [LiveKey] {
        bytes.compactMap { key(for: $0) }
    }

    private mutating func key(for byte: UInt8) -> LiveKey? {
        switch state {
        case .ground:
            if byte == 0x1B {
                state = .escape
                return nil
            }
            return Self.key(byte)
        case .escape:
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "O"): state = .sequence
            case 0x1B: break
            default:
                // The Escape key alone, then another key.
                state = .ground
                return Self.key(byte)
            }
            return nil
        case .sequence:
            // Parameters come before the final byte, as in ESC [ 1 ; 5 C.
            guard (0x40...0x7E).contains(byte) else { return nil }
            state = .ground
            switch byte {
            case UInt8(ascii: "A"), UInt8(ascii: "D"): return .previous
            case UInt8(ascii: "B"), UInt8(ascii: "C"): return .next
            default: return nil
            }
        }
    }

    private static func key(_ byte: UInt8) -> LiveKey? {
        switch byte {
        case UInt8(ascii: " "): .tap
        case UInt8(ascii: "l"), UInt8(ascii: "L"): .lock
        case UInt8(ascii: "h"), UInt8(ascii: "H"): .half
        case UInt8(ascii: "d"), UInt8(ascii: "D"): .double
        case UInt8(ascii: "q"), UInt8(ascii: "Q"): .quit
        default: nil
        }
    }
}
