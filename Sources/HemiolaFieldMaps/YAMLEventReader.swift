internal import CYAML
internal import HemiolaRecords
internal import HemiolaSystem

/// Reads the events of a YAML stream through libyaml.
///
/// Input: UTF-8, held until the reader is destroyed. Lines and columns count from 1; a column is one Unicode scalar.
/// Time and memory are linear in the size of the input.
struct YAMLEventReader: ~Copyable {
    struct Event {
        enum Kind: Equatable {
            case documentStart, documentEnd, streamEnd
            case sequenceStart, sequenceEnd
            case mappingStart, mappingEnd
            /// `*name`.
            case alias
            /// `isPlain`: written without quotes and not as a block (`|`, `>`).
            case scalar(String, isPlain: Bool)
        }

        var kind: Kind
        /// Where the event starts.
        var place: TextPosition
        /// The node has an anchor: `&name`.
        var hasAnchor = false
        /// The node has a tag: `!name`, `!!str`.
        var hasTag = false
    }

    // Unsafe: libyaml's state and the input that it points into; this value owns both.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>

    /// - Throws: libyaml is not installed.
    init(_ text: String) throws(Problem) {
        if let fault = cyaml_load() {
            throw Problem(
                "cannot read YAML: \(String(cString: fault)); \(SharedLibrary.yaml.remedy)")
        }
        input = .allocate(capacity: text.utf8.count)
        _ = input.initialize(from: text.utf8)
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        guard yaml_parser_initialize(parser) == 1 else { exitForLackOfMemory() }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        input.deallocate()
    }

    /// The next event. None follows the end of the stream or an error.
    mutating func next() throws(Problem) -> Event {
        while true {
            var event = yaml_event_t()
            guard yaml_parser_parse(parser, &event) == 1 else { throw failure }
            defer { yaml_event_delete(&event) }
            if let event = Event(event) { return event }
        }
    }

    private var failure: Problem {
        // Safe: constants of libyaml, copied here.
        let texts = [parser.pointee.context, parser.pointee.problem].compactMap { $0.map { String(cString: $0) } }
        let message = texts.isEmpty ? "cannot allocate memory" : texts.joined(separator: ": ")
        switch parser.pointee.error {
        case YAML_READER_ERROR: return Problem(message, at: Place(place(at: parser.pointee.problem_offset)))
        case YAML_MEMORY_ERROR: return Problem(message)
        default: return Problem(message, at: Place(TextPosition(parser.pointee.problem_mark)))
        }
    }

    /// The place of the byte at an offset: the error of a character that YAML does not allow has no line.
    private func place(at offset: Int) -> TextPosition {
        var place = TextPosition(line: 1, column: 1)
        var isAfterReturn = false
        for scalar in String(decoding: input[..<min(offset, input.count)], as: UTF8.self).unicodeScalars {
            if scalar == "\n", isAfterReturn {
                // One line break of two characters.
            } else if "\n\r\u{85}\u{2028}\u{2029}".unicodeScalars.contains(scalar) {
                place = TextPosition(line: place.line + 1, column: 1)
            } else {
                place.column += 1
            }
            isAfterReturn = scalar == "\r"
        }
        return place
    }
}

extension YAMLEventReader.Event {
    /// nil for the start of the stream, which has no content.
    fileprivate init?(_ event: yaml_event_t) {
        place = TextPosition(event.start_mark)
        switch event.type {
        case YAML_DOCUMENT_START_EVENT: kind = .documentStart
        case YAML_DOCUMENT_END_EVENT: kind = .documentEnd
        case YAML_STREAM_END_EVENT: kind = .streamEnd
        case YAML_SEQUENCE_END_EVENT: kind = .sequenceEnd
        case YAML_MAPPING_END_EVENT: kind = .mappingEnd
        case YAML_ALIAS_EVENT: kind = .alias
        case YAML_SEQUENCE_START_EVENT:
            kind = .sequenceStart
            hasAnchor = event.data.sequence_start.anchor != nil
            hasTag = event.data.sequence_start.tag != nil
        case YAML_MAPPING_START_EVENT:
            kind = .mappingStart
            hasAnchor = event.data.mapping_start.anchor != nil
            hasTag = event.data.mapping_start.tag != nil
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            // Safe: libyaml's text lives until the event is deleted, and is copied here.
            let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            kind = .scalar(text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE)
            hasAnchor = scalar.anchor != nil
            hasTag = scalar.tag != nil
        default: return nil
        }
    }
}

extension TextPosition {
    /// libyaml counts from 0.
    fileprivate init(_ mark: yaml_mark_t) {
        self.init(line: mark.line + 1, column: mark.column + 1)
    }
}
