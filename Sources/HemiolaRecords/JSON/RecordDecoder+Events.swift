internal import HemiolaSignal
internal import HemiolaSystem

extension RecordDecoder {
    /// Decodes the record of an event. One that the catalog does not declare keeps its line.
    mutating func event(_ name: String, _ record: JSONValue, _ line: [UInt8], _ header: StreamHeader) throws(Problem) -> Record {
        let time = try record.time("t", header.format)
        let control = try name == RecordType.control.name ? record.text("control") : nil
        if let control, let type = catalog.control(control) {
            let stamped = StampedControl(
                try Control(type, from: record), at: try record.count("frame"), from: try record.text("from"))
            return .event(Event(at: time, stamped), emitted: nil)
        }
        guard control == nil, let type = catalog.event(name) else {
            note(undeclared: control ?? name)
            return .event(
                Event(at: time, undeclared: name, line: line), emitted: try? record.time("emitted_t", header.format))
        }
        var event = Event(at: time, type)
        var emitted: Double?
        for (field, slot) in zip(type.fields, type.slots) {
            guard let value = record[field.name] else { continue }
            if field.source == .emittedTime { emitted = try record.time(field.name, header.format) }
            guard slot >= 0 else { continue }
            guard let decoded = field.value(of: value) else { throw Problem("\"\(field.name)\" has another type") }
            event[slot] = decoded
        }
        event.time = try exactTime(time, type, record, emitted, header.format)
        return .event(event, emitted: emitted)
    }

    /// The time for which `t` and the fields that depend on it have the text of the record.
    ///
    /// `t` and `due_in_s` are rounded to microseconds, `frame` to a whole number: each leaves an interval, and the time lies in all of them.
    private func exactTime(
        _ time: Double, _ type: RecordType, _ record: JSONValue, _ emitted: Double?, _ format: StreamFormat
    ) throws(Problem) -> Double {
        let half = 0.5e-6
        var (low, high) = (time - half, time + half)
        for field in type.fields {
            switch field.source {
            case .frame:
                guard let frame = try record.optionalNumber(field.name) else { continue }
                low = max(low, (frame - 0.5) / Double(format.sampleRate))
                high = min(high, (frame + 0.5) / Double(format.sampleRate))
            case .timeUntilEvent:
                guard let emitted, let due = try record.optionalNumber(field.name) else { continue }
                let end = format.seconds(at: format.frame(at: emitted))
                low = max(low, end + due - half)
                high = min(high, end + due + half)
            default: continue
            }
        }
        // The record of a time with fewer decimals stays exact.
        if low <= time, time <= high, time - low > 1e-9, high - time > 1e-9 { return time }
        return low < high ? (low + high) / 2 : time
    }
}
