internal import HemiolaSignal
internal import HemiolaSystem

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
        buffer.append(#","records":"#)
        buffer.appendList(header.catalog.events) { buffer, type in
            buffer.appendDeclaration(type.name, type.summary, header.catalog.fields(of: type))
        }
        buffer.append(#","controls":"#)
        buffer.appendList(header.catalog.controls) { $0.appendDeclaration($1.name, $1.summary, $1.fields) }
        extra(&buffer)
        close(&buffer)
    }

    private func appendFields(to buffer: inout JSONBuffer) {
        buffer.append(#","schema":"#)
        buffer.append(integer: StreamHeader.schema)
        buffer.append(#","hemiola":"#)
        buffer.append(string: version)
        buffer.append(#","source":{"kind":"#)
        buffer.append(string: header.source.kind)
        buffer.append(#","name":"#)
        buffer.append(string: header.source.name)
        if let bytes = header.source.nameBytes {
            buffer.append(#","name_base64":"#)
            buffer.append(string: bytes.base64)
        }
        buffer.append(#","duration_s":"#)
        buffer.append(seconds: header.source.duration ?? .nan)
        if let start = header.source.start {
            buffer.append(#","start_s":"#)
            buffer.append(seconds: start)
        }
        if let track = header.source.audioTrack {
            buffer.append(#","audio_track":"#)
            buffer.append(integer: track.number)
            buffer.append(#","audio_tracks":"#)
            buffer.append(integer: track.count)
        }
        let tags = header.source.tags.members.filter { $0.value != .null }
        if !tags.isEmpty {
            buffer.append(#","tags":"#)
            buffer.append(.object(tags))
        }
        buffer.append(#"},"sample_rate":"#)
        buffer.append(integer: header.format.sampleRate)
        buffer.append(#","channels":"#)
        buffer.append(integer: header.format.channelCount)
        if let map = header.format.channelMap {
            buffer.append(#","channel_names":"#)
            buffer.appendList(map.names) { $0.append(string: $1) }
        }
        buffer.append(#","batch_frames":"#)
        buffer.append(integer: header.batching.batchFrames)
        buffer.append(#","seed":"#)
        buffer.append(bytes: Array(String(header.seed).utf8))
        if let fingerprint = header.fingerprint {
            buffer.append(key: "fingerprint")
            buffer.append(string: fingerprint)
        }
        buffer.append(#","analyzers":"#)
        buffer.appendList(header.analyzers) { append($1, to: &$0) }
    }

    private func append(_ analyzer: StreamHeader.Analyzer, to buffer: inout JSONBuffer) {
        buffer.append(#"{"id":"#)
        buffer.append(string: analyzer.name)
        buffer.append(#","plugin":"#)
        buffer.append(string: analyzer.id)
        buffer.append(#","version":"#)
        buffer.append(integer: analyzer.version)
        buffer.append(#","latency_frames":"#)
        buffer.append(integer: analyzer.outputs.latencyFrames)
        buffer.append(#","causal":"#)
        buffer.append(analyzer.outputs.isCausal)
        buffer.append(#","parameters":"#)
        // With all digits, so that the same value can be given again; measurements have six.
        buffer.appendObject(analyzer.parameters, key: \.key) { $0.append(JSONValue($1.value)) }
        buffer.append(#","outputs":"#)
        buffer.appendList(analyzer.outputs.features.filter { isWritten($0, of: analyzer) }) { $0.append($1) }
        buffer.append(#","events":"#)
        buffer.appendList(analyzer.outputs.events.filter(isWritten)) { $0.append($1) }
        buffer.append("}")
    }

    private func isWritten(_ feature: Feature, of analyzer: StreamHeader.Analyzer) -> Bool {
        selection.contains("batch") && selection.contains(analyzer.name, feature.name)
    }

    private func isWritten(_ event: EventOutput) -> Bool {
        selection.contains(header.catalog.event(event.name)?.name ?? RecordType.analyzerEvent.name)
    }
}

extension SoundTags {
    /// The tags in the order of ``RecordSchema/tags(isComplete:)``, null where there are none.
    var members: [JSONValue.Member] {
        [("title", title), ("artist", artist), ("album", album), ("track", track), ("genre", genre)].map { key, text in
            JSONValue.Member(key, text.map { .text($0) } ?? .null)
        } + [JSONValue.Member("year", year.map { .integer($0) } ?? .null)]
    }
}

extension JSONBuffer {
    /// The declaration of a record type or control.
    fileprivate mutating func appendDeclaration(_ name: String, _ summary: String, _ fields: [Field]) {
        append(#"{"name":"#)
        append(string: name)
        append(#","description":"#)
        append(string: summary)
        append(#","fields":"#)
        appendList(fields) { $0.append($1) }
        append("}")
    }

    private mutating func append(_ field: Field) {
        append(#"{"name":"#)
        append(string: field.name)
        append(#","type":"#)
        append(string: field.kind.name)
        if case .choice(let choices) = field.kind {
            append(#","choices":"#)
            appendList(choices) { $0.append(string: $1) }
        }
        append(#","unit":"#)
        append(string: field.unit.rawValue)
        if let minimum = field.minimum {
            append(#","minimum":"#)
            append(minimum, in: field.unit)
        }
        if let maximum = field.maximum {
            append(#","maximum":"#)
            append(maximum, in: field.unit)
        }
        append(#","nullable":"#)
        append(field.isNullable)
        append(#","required":"#)
        append(field.defaultValue == nil)
        append(#","description":"#)
        append(string: field.summary)
        append("}")
    }

    fileprivate mutating func append(_ feature: Feature) {
        append(#"{"name":"#)
        append(string: feature.name)
        append(#","unit":"#)
        append(string: feature.unit.rawValue)
        append(#","count":"#)
        append(integer: feature.count)
        append(#","list":"#)
        append(feature.isArray)
        if !feature.edges.isEmpty {
            append(#","edges_hz":"#)
            appendList(feature.edges) { $0.append($1, in: .hertz) }
        }
        if let minimum = feature.minimum {
            append(#","minimum":"#)
            append(minimum, in: feature.unit)
        }
        if let maximum = feature.maximum {
            append(#","maximum":"#)
            append(maximum, in: feature.unit)
        }
        if feature.isCategory {
            append(#","labels":"#)
            appendList(feature.labels) { $0.append(string: $1) }
        }
        if let offset = feature.centerOffset {
            append(#","center_offset_s":"#)
            append(seconds: offset)
        }
        append(#","description":"#)
        append(string: feature.summary)
        append("}")
    }

    fileprivate mutating func append(_ output: EventOutput) {
        append(#"{"name":"#)
        append(string: output.name)
        append(#","unit":"#)
        append(string: output.unit.rawValue)
        append(#","description":"#)
        append(string: output.summary)
        append("}")
    }
}
