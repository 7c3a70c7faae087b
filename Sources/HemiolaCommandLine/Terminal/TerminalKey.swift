internal import Hemiola
internal import Synchronization

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

    /// In lower case.
    private static let characters: [String: TerminalKey] = [
        " ": .tap, "l": .lock, "r": .range, "h": .half, "d": .double, "q": .quit, "1": .layout(0), "2": .layout(1), "3": .layout(2),
        "4": .layout(3), "\t": .nextLayout, "t": .theme, "m": .channels, "?": .help,
    ]

    /// The keys that submit a control: its name, and what the key does, as a notice.
    private static let controls: [TerminalKey: (name: String, notice: String)] = [
        .tap: ("tap", "tap"), .lock: ("lockTempo", "lock tempo"), .range: ("tempoRange", "tempo range"),
        .half: ("halveTempo", "half tempo"), .double: ("doubleTempo", "double tempo"),
        .previous: ("previousPreset", "previous preset"), .next: ("nextPreset", "next preset"),
    ]

    /// The key with a character.
    init?(_ byte: UInt8) {
        guard let key = Self.characters[String(Unicode.Scalar(byte)).lowercased()] else { return nil }
        self = key
    }

    /// Reads the keys of the terminal; nil: there are none.
    static func reader(_ process: @escaping @Sendable (TerminalKey) -> Void) -> KeyReader? {
        guard KeyReader.isPossible else { return nil }
        let parser = Mutex(TerminalKeyParser())
        return KeyReader { bytes in
            for key in parser.withLock({ $0.keys(in: bytes) }) { process(key) }
        }
    }

    /// Does what is not a matter of the view: submits the control of the key, or ends the run.
    ///
    /// - Parameters:
    ///   - state: What is known of the tempo: `lock` locks the current one, or unlocks it; `range` limits it to the octave
    ///     around the current one, or ends that.
    ///   - show: Receives the outcome, as a notice.
    func submit(_ state: LiveState, to context: SinkContext, show: @escaping @Sendable (String) -> Void) {
        if self == .quit { return context.run.end() }
        guard let (name, notice) = Self.controls[self] else { return }
        var (tempo, slowest, fastest) = (ParameterValue.none, ParameterValue.none, ParameterValue.none)
        if self == .lock && !state.isTempoLocked || self == .range && !state.isTempoLimited {
            guard let current = state.tempo.map(Double.init) else { return show("\(self): no tempo yet") }
            if self == .lock {
                tempo = .number(current)
            } else {
                let half = Double(2).squareRoot()
                (slowest, fastest) = (.number((current / half).rounded()), .number((current * half).rounded()))
            }
        }
        guard let type = context.records.catalog.control(name) else { return show("\(notice): no plugin declares this control") }
        var control = Control(type)
        (control["bpm"], control["min_bpm"], control["max_bpm"]) = (tempo, slowest, fastest)
        context.controls.submit(control, from: context.name) { reply in
            switch reply {
            case .done, .switched: show(notice)
            case .refused(let reason): show("\(notice): \(reason)")
            case .busy: show("\(notice): too many controls at once")
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
        switch (state, byte) {
        case (.ground, 0x1B), (.escape, 0x1B): state = .escape
        case (.escape, UInt8(ascii: "[")), (.escape, UInt8(ascii: "O")): (state, parameters) = (.sequence, "")
        case (.ground, _), (.escape, _):
            // Behind the Escape key alone, it is another key.
            state = .ground
            return TerminalKey(byte)
        case (.sequence, 0x40...0x7E):
            state = .ground
            return key(ofSequence: byte)
        case (.sequence, _):
            // Parameters come before the final byte, as in ESC [ 1 ; 5 C.
            if parameters.utf8.count < Self.longestParameters { parameters.unicodeScalars.append(Unicode.Scalar(byte)) }
        }
        return nil
    }

    private func key(ofSequence end: UInt8) -> TerminalKey? {
        switch end {
        case UInt8(ascii: "A"), UInt8(ascii: "D"): return .previous
        case UInt8(ascii: "B"), UInt8(ascii: "C"): return .next
        case UInt8(ascii: "M"):
            // The left button, pressed.
            let numbers = parameters.dropFirst().split(separator: ";").map { Int($0) }
            guard parameters.hasPrefix("<"), numbers.count == 3, numbers[0] == 0, let column = numbers[1], let row = numbers[2] else {
                return nil
            }
            return .click(column: column &- 1, row: row &- 1)
        default: return nil
        }
    }
}
