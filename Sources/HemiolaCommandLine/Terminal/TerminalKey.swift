internal import Hemiola

/// A key of the terminal, or a click.
enum TerminalKey: Sendable, Hashable {
    case tap, lock, range, half, double, previous, next, quit
    /// Keys of the view: a layout by its number, 0…; the next one; another theme; one channel or two; help.
    case layout(Int)
    case nextLayout, theme, channels, help
    /// A click of the mouse on a cell, from 0 on.
    case click(column: Int, row: Int)

    /// The keys of the line, at most 80 columns.
    static let helpOfLine = "space tap, l lock, r range, h half, d double tempo, arrows preset, q quit"

    /// What the key does, as a notice; nil: the key changes only the view.
    var done: String? {
        switch self {
        case .tap: "tap"
        case .lock: "lock tempo"
        case .range: "tempo range"
        case .half: "half tempo"
        case .double: "double tempo"
        case .previous: "previous preset"
        case .next: "next preset"
        case .quit: "quit"
        case .layout, .nextLayout, .theme, .channels, .help, .click: nil
        }
    }

    /// Submits the control of the key.
    ///
    /// - Parameters:
    ///   - state: What is known of the tempo: `lock` locks the current one, or unlocks it; `range` limits it to the octave
    ///     around the current one, or ends that.
    ///   - show: Receives the outcome, as a notice.
    func submit(_ state: LiveState, to context: SinkContext, show: @escaping @Sendable (String) -> Void) {
        guard let done else { return }
        let name: String
        var (tempo, slowest, fastest) = (ParameterValue.none, ParameterValue.none, ParameterValue.none)
        switch self {
        case .tap: name = "tap"
        case .lock:
            name = "lockTempo"
            if !state.isTempoLocked {
                guard let current = state.tempo else { return show("lock: no tempo yet") }
                tempo = .number(Double(current))
            }
        case .range:
            name = "tempoRange"
            if !state.isTempoLimited {
                guard let current = state.tempo else { return show("range: no tempo yet") }
                let half = Double(2).squareRoot()
                (slowest, fastest) = (.number((Double(current) / half).rounded()), .number((Double(current) * half).rounded()))
            }
        case .half: name = "halveTempo"
        case .double: name = "doubleTempo"
        case .next: name = "nextPreset"
        case .previous: name = "previousPreset"
        case .quit: return context.run.end()
        case .layout, .nextLayout, .theme, .channels, .help, .click: return
        }
        guard let type = context.records.catalog.control(name) else { return show("\(done): no plugin declares this control") }
        var control = Control(type)
        (control["bpm"], control["min_bpm"], control["max_bpm"]) = (tempo, slowest, fastest)
        context.controls.submit(control, from: context.name) { reply in
            switch reply {
            case .done, .switched: show(done)
            case .refused(let reason): show("\(done): \(reason)")
            case .busy: show("\(done): too many controls at once")
            }
        }
    }
}

/// Parses the bytes that a terminal sends into keys. An arrow key is an escape sequence (`ESC [ C`, or `ESC O C` in application mode), which
/// may arrive in parts; so is a click (`ESC [ < 0 ; column ; row M`, xterm's SGR mode). Other sequences and letters are skipped.
struct TerminalKeyParser {
    private enum State {
        case ground, escape, sequence
    }

    /// Bytes of parameters that are kept.
    private static let longestParameters = 32

    private var state = State.ground
    private var parameters = ""

    mutating func keys(in bytes: some Sequence<UInt8>) -> [TerminalKey] {
        bytes.compactMap { key(for: $0) }
    }

    private mutating func key(for byte: UInt8) -> TerminalKey? {
        switch state {
        case .ground:
            if byte == 0x1B {
                state = .escape
                return nil
            }
            return Self.key(byte)
        case .escape:
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "O"): (state, parameters) = (.sequence, "")
            case 0x1B: break
            default:
                // The Escape key alone, then another key.
                state = .ground
                return Self.key(byte)
            }
            return nil
        case .sequence:
            // Parameters come before the final byte, as in ESC [ 1 ; 5 C.
            guard (0x40...0x7E).contains(byte) else {
                if parameters.utf8.count < Self.longestParameters { parameters.unicodeScalars.append(Unicode.Scalar(byte)) }
                return nil
            }
            state = .ground
            switch byte {
            case UInt8(ascii: "A"), UInt8(ascii: "D"): return .previous
            case UInt8(ascii: "B"), UInt8(ascii: "C"): return .next
            case UInt8(ascii: "M"): return Self.click(parameters)
            default: return nil
            }
        }
    }

    /// The left button, pressed.
    private static func click(_ parameters: String) -> TerminalKey? {
        guard parameters.hasPrefix("<") else { return nil }
        let numbers = parameters.dropFirst().split(separator: ";").map { Int($0) }
        guard numbers.count == 3, numbers[0] == 0, let column = numbers[1], let row = numbers[2] else { return nil }
        return .click(column: column - 1, row: row - 1)
    }

    private static func key(_ byte: UInt8) -> TerminalKey? {
        switch byte {
        case UInt8(ascii: " "): .tap
        case UInt8(ascii: "l"), UInt8(ascii: "L"): .lock
        case UInt8(ascii: "r"), UInt8(ascii: "R"): .range
        case UInt8(ascii: "h"), UInt8(ascii: "H"): .half
        case UInt8(ascii: "d"), UInt8(ascii: "D"): .double
        case UInt8(ascii: "q"), UInt8(ascii: "Q"): .quit
        case UInt8(ascii: "1")...UInt8(ascii: "4"): .layout(Int(byte) - 0x31)
        case UInt8(ascii: "\t"): .nextLayout
        case UInt8(ascii: "t"), UInt8(ascii: "T"): .theme
        case UInt8(ascii: "m"), UInt8(ascii: "M"): .channels
        case UInt8(ascii: "?"): .help
        default: nil
        }
    }
}
