internal import HemiolaSignal

extension RecordEncoder {
    /// Writes the first line of the stream.
    public func encodeHeader(into buffer: inout JSONBuffer) {
        guard selection.contains("header") else { return }
        open(#"{"type":"header""#, in: &buffer)
        appendFields(to: &buffer)
        close(&buffer)
    }

    /// Writes the line that a visualizer is greeted with: the header's fields, and how the visualizers stand. Whatever is
    /// selected, for it is no record.
    public func encodeHello(_ state: VisualizerState, into buffer: inout JSONBuffer) {
        open(#"{"type":"hello""#, in: &buffer)
        appendFields(to: &buffer)
        buffer.append(#","visualizer":{"preset":"#)
        if let preset = state.preset { buffer.append(string: preset) } else { buffer.append("null") }
        buffer.append(#","speed":"#)
        buffer.append(significant: state.speed ?? .nan)
        buffer.append(#","cycling":"#)
        if let isCycling = state.isCycling { buffer.append(isCycling) } else { buffer.append("null") }
        buffer.append(#","next_in_s":"#)
        buffer.append(seconds: state.nextIn ?? .nan)
        buffer.append("}")
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
        buffer.appendObject(analyzer.parameters, key: \.key) { $0.append($1.value) }
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
        selection.contains(["onset", "beat"].contains(event.name) ? event.name : "event")
    }
}

extension JSONBuffer {
    fileprivate mutating func append(_ value: ParameterValue) {
        switch value {
        case .none: append("null")
        case .boolean(let flag): append(flag)
        case .integer(let number): append(integer: number)
        // A setting is written so that it can be given again: every digit of it, not the six of a measurement.
        case .number(let number) where number.isFinite: append(bytes: Array(number.description.utf8))
        case .number: append("null")
        case .text(let text): append(string: text)
        case .list(let items): appendList(items) { $0.append($1) }
        }
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
