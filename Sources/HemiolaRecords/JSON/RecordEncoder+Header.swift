extension RecordEncoder {
    /// Writes the first line of the stream.
    public func encodeHeader(into buffer: inout JSONBuffer) {
        guard selection.contains("header") else { return }
        open(#"{"type":"header""#, in: &buffer)
        appendFields(to: &buffer)
        close(&buffer)
    }

    /// Writes the first line for a client: the header's fields, independent of the selection, the declarations of all record types and
    /// controls, and members of the caller. The line is not a record.
    ///
    /// - Parameters:
    ///   - buffer: Gets the line.
    ///   - extra: Adds further members, each with a comma before it.
    public func encodeHello(into buffer: inout JSONBuffer, adding extra: (inout JSONBuffer) -> Void) {
        open(#"{"type":"hello""#, in: &buffer)
        appendFields(to: &buffer)
        let (records, controls) = (header.catalog.events, header.catalog.controls)
        buffer.append(members: [
            .init("records", .list(records.map { JSONValue(declaring: $0.name, $0.summary, header.catalog.fields(of: $0)) })),
            .init("controls", .list(controls.map { JSONValue(declaring: $0.name, $0.summary, $0.fields) })),
        ])
        extra(&buffer)
        close(&buffer)
    }

    private func appendFields(to buffer: inout JSONBuffer) {
        var stream = header
        for (index, analyzer) in header.analyzers.enumerated() {
            stream.analyzers[index].outputs.features.removeAll { feature in
                !selection.contains("batch") || !selection.contains(analyzer.name, feature.name)
            }
            stream.analyzers[index].outputs.events.removeAll { event in
                !selection.contains(header.catalog.event(event.name)?.name ?? RecordType.analyzerEvent.name)
            }
        }
        for member in RecordSchema.header.members(of: stream) {
            buffer.append(key: member.key)
            // A seed may be larger than an integer of JSONValue.
            if member.key == "seed" { buffer.append(bytes: Array(String(header.seed).utf8)) } else { buffer.append(member.value) }
        }
    }
}

extension JSONValue {
    /// The declaration of a record type or control.
    fileprivate init(declaring name: String, _ summary: String, _ fields: [Field]) {
        self = .object([
            .init("name", .text(name)), .init("description", .text(summary)),
            .init("fields", .list(fields.map { JSONValue(declaring: $0) })),
        ])
    }

    private init(declaring field: Field) {
        var choices: JSONValue?
        if case .choice(let names) = field.kind { choices = .list(names.map { .text($0) }) }
        let members: [(key: String, value: JSONValue?)] = [
            ("name", .text(field.name)), ("type", .text(field.kind.name)), ("choices", choices), ("unit", .text(field.unit.rawValue)),
            ("minimum", field.minimum.map { .number($0, in: field.unit) }), ("maximum", field.maximum.map { .number($0, in: field.unit) }),
            ("nullable", .boolean(field.isNullable)), ("required", .boolean(field.defaultValue == nil)),
            ("description", .text(field.summary)),
        ]
        self = .object(members.compactMap { key, value in value.map { Member(key, $0) } })
    }
}
