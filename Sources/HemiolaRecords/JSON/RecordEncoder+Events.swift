internal import HemiolaSignal

extension RecordEncoder {
    /// Writes an event's line: that of a record that the program does not declare as it was read.
    ///
    /// - Parameters:
    ///   - event: The event; nothing is written when its type is not selected.
    ///   - batchEnd: The end, in seconds of stream time, of the batch after which the line is written: its `emitted_t`.
    ///   - buffer: Receives the line.
    public func encode(_ event: Event, batchEnd: Double, into buffer: inout JSONBuffer) {
        guard selection.contains(event.type.name) else { return }
        if let line = event.line {
            buffer.append(bytes: line)
            buffer.append("\n")
            buffer.lineCount += 1
            return
        }
        open(event.type, event.time, in: &buffer)
        forEachField(of: event, batchEnd: batchEnd) { field, value, unit in
            buffer.append(key: field.name)
            buffer.append(value, in: unit)
        }
        close(&buffer)
    }

    /// Writes the last lines of the stream: the events after the last batch, then the end.
    ///
    /// - Parameter countsLines: Whether the end has the number of lines that were encoded into the buffer, so that a reader of a file
    ///   finds missing ones.
    public func encodeEnd(_ summary: StreamSummary, into buffer: inout JSONBuffer, countsLines: Bool = false) {
        let end = header.format.seconds(at: summary.frames)
        for event in summary.lateEvents { encode(event, batchEnd: end, into: &buffer) }
        guard selection.contains("end") else { return }
        open(#"{"type":"end""#, in: &buffer)
        let lines = countsLines ? buffer.lineCount + 1 : nil
        buffer.append(members: RecordSchema.end.members(of: (summary, end, lines)))
        close(&buffer)
    }

    private func open(_ type: RecordType, _ time: Double, in buffer: inout JSONBuffer) {
        buffer.append(#"{"type":"#)
        buffer.append(string: type.name)
        if !fileField.isEmpty { buffer.append(bytes: fileField) }
        buffer.append(#","t":"#)
        buffer.append(seconds: time)
    }
}

// MARK: - Fields

extension RecordEncoder {
    /// Calls a function with each field of an event's record after `t`, in the order in which they are written: its declaration, its value
    /// (`.none` for null), and the unit of its numbers.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - batchEnd: The end, in seconds of stream time, of the batch after which the record is written.
    ///   - body: Called for each field.
    /// - Complexity: O(fields); nothing is allocated.
    public func forEachField(of event: Event, batchEnd: Double, _ body: (Field, ParameterValue, Unit) -> Void) {
        let type = event.type
        for index in type.fields.indices {
            let field = type.fields[index]
            guard let stamped = event.control else {
                body(field, value(of: field, at: type.slots[index], in: event, batchEnd), unit(of: field, in: event))
                continue
            }
            switch field.name {
            case "frame": body(field, .integer(Int(stamped.frame)), .none)
            case "control":
                body(field, .text(stamped.control.name), .none)
                for place in stamped.control.values.indices {
                    let argument = stamped.control.type.fields[place]
                    body(argument, stamped.control.values[place], argument.unit)
                }
            default: body(field, .text(stamped.origin), .none)
            }
        }
    }

    private func value(of field: Field, at slot: Int, in event: Event, _ batchEnd: Double) -> ParameterValue {
        switch field.source {
        case .stored: event[slot]
        case .constant(let text): .text(text)
        case .frame: .integer(Int(header.format.frame(at: event.time)))
        case .emittedTime: .number(batchEnd)
        case .timeUntilEvent: .number(event.time - batchEnd)
        case .seconds(let frames): .number(header.format.seconds(at: Int64(event[frames].integer ?? 0)))
        }
    }

    /// The values of an `event` record are in the unit of the analyzer's output.
    private func unit(of field: Field, in event: Event) -> Unit {
        guard field.kind == .numbers, event.type == .analyzerEvent else { return field.unit }
        let (analyzer, output) = (event["analyzer"].string, event["output"].string)
        return outputUnits.first { $0.output == output && $0.analyzer == analyzer }?.unit ?? .none
    }
}

extension JSONBuffer {
    /// A comma, the key in quotes, a colon.
    mutating func append(key: String) {
        append(",")
        append(string: key)
        append(":")
    }

    /// Members of an object, each with a comma before it.
    mutating func append(members: [JSONValue.Member]) {
        for member in members {
            append(key: member.key)
            append(member.value)
        }
    }

    /// The value of a field as JSON. A number that is not finite is null.
    ///
    /// - Parameters:
    ///   - value: The value; `.none` is null.
    ///   - unit: Determines the number of digits.
    public mutating func append(_ value: ParameterValue, in unit: Unit) {
        switch value {
        case .none: append("null")
        case .boolean(let flag): append(flag)
        case .integer(let number): append(integer: number)
        case .number(let number): append(number, in: unit)
        case .text(let text): append(string: text)
        case .list(let items): appendList(items) { $0.append($1, in: unit) }
        }
    }
}
