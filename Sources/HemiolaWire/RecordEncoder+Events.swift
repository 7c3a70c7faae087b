public import HemiolaSignal

extension RecordEncoder {
    /// Writes an event's line.
    ///
    /// - Parameters:
    ///   - event: What happened; nothing is written when it is not selected.
    ///   - batchEnd: The end, in seconds of stream time, of the batch after which the line stands: its `emitted_t`.
    ///   - buffer: Gets the line.
    public func encode(_ event: Event, batchEnd: Double, into buffer: inout JSONBuffer) {
        guard selection.contains(event.recordType) else { return }
        let time = event.time
        switch event.payload {
        case .onset(let onset): append(onset, time, batchEnd, to: &buffer)
        case .beat(let beat): append(beat, time, batchEnd, to: &buffer)
        case .finding(let finding): append(finding, time, to: &buffer)
        case .preset(let change): append(change, time, batchEnd, to: &buffer)
        case .speed(let speed):
            open(#"{"type":"speed""#, time, in: &buffer)
            buffer.append(#","speed":"#)
            buffer.append(significant: speed)
        case .key(let stroke):
            open(#"{"type":"key""#, time, in: &buffer)
            buffer.append(stroke)
        case .control(let control): append(control, time, to: &buffer)
        case .device(let notice): append(notice, time, to: &buffer)
        case .gap(let gap): append(gap, time, to: &buffer)
        case .dropped(let loss): append(loss, time, to: &buffer)
        }
        close(&buffer)
    }

    /// Writes the last lines of the stream: the events that came late, then the end.
    public func encodeEnd(_ summary: StreamSummary, into buffer: inout JSONBuffer) {
        let end = header.format.seconds(at: summary.frames)
        for event in summary.lateEvents { encode(event, batchEnd: end, into: &buffer) }
        guard selection.contains("end") else { return }
        open(#"{"type":"end""#, end, in: &buffer)
        buffer.append(#","frames":"#)
        buffer.append(integer: summary.frames)
        buffer.append(#","batches":"#)
        buffer.append(integer: summary.batches)
        buffer.append(#","non_finite":"#)
        buffer.append(integer: summary.nonFinite)
        buffer.append(#","dropped":"#)
        buffer.appendObject(summary.dropped, key: \.sink) { $0.append(integer: $1.batches) }
        buffer.append(#","summaries":"#)
        buffer.appendObject(summary.sections, key: \.analyzer) { buffer, section in
            buffer.appendObject(section.values, key: \.name) { $0.append($1.number) }
        }
        buffer.append(#","reason":"#)
        buffer.append(string: summary.reason.rawValue)
        close(&buffer)
    }

    private func open(_ type: StaticString, _ time: Double, in buffer: inout JSONBuffer) {
        open(type, in: &buffer)
        buffer.append(#","t":"#)
        buffer.append(seconds: time)
    }

    private func append(_ onset: Onset, _ time: Double, _ batchEnd: Double, to buffer: inout JSONBuffer) {
        open(#"{"type":"onset""#, time, in: &buffer)
        buffer.append(#","strength":"#)
        buffer.append(significant: onset.strength)
        buffer.append(#","emitted_t":"#)
        buffer.append(seconds: batchEnd)
    }

    private func append(_ beat: Beat, _ time: Double, _ batchEnd: Double, to buffer: inout JSONBuffer) {
        open(#"{"type":"beat""#, time, in: &buffer)
        buffer.append(#","bpm":"#)
        buffer.append(beat.beatsPerMinute, in: .beatsPerMinute)
        buffer.append(#","position":"#)
        buffer.append(optional: beat.position)
        buffer.append(#","confidence":"#)
        buffer.append(significant: beat.confidence)
        buffer.append(#","emitted_t":"#)
        buffer.append(seconds: batchEnd)
        buffer.append(#","due_in_s":"#)
        buffer.append(seconds: time - batchEnd)
    }

    private func append(_ finding: Finding, _ time: Double, to buffer: inout JSONBuffer) {
        open(#"{"type":"event""#, time, in: &buffer)
        buffer.append(#","duration_s":"#)
        buffer.append(seconds: finding.duration ?? .nan)
        buffer.append(#","analyzer":"#)
        buffer.append(string: finding.analyzer)
        buffer.append(#","output":"#)
        buffer.append(string: finding.output)
        let unit = findings.first { $0.output == finding.output && $0.analyzer == finding.analyzer }?.unit ?? .none
        buffer.append(#","values":"#)
        buffer.appendList(finding.values) { $0.append($1, in: unit) }
        buffer.append(#","label":"#)
        buffer.append(string: finding.label)
    }

    private func append(_ change: PresetChange, _ time: Double, _ batchEnd: Double, to buffer: inout JSONBuffer) {
        open(#"{"type":"preset""#, time, in: &buffer)
        buffer.append(#","frame":"#)
        buffer.append(integer: header.format.frame(at: time))
        buffer.append(#","emitted_t":"#)
        buffer.append(seconds: batchEnd)
        buffer.append(#","action":"load","name":"#)
        buffer.append(string: change.name)
        buffer.append(#","cut":"#)
        buffer.append(string: change.cut.rawValue)
        buffer.append(#","blend_s":"#)
        buffer.append(seconds: change.blend)
        buffer.append(#","reason":"#)
        buffer.append(string: change.reason.rawValue)
        buffer.append(#","next_in_s":"#)
        buffer.append(seconds: change.nextIn ?? .nan)
    }

    private func append(_ stamped: StampedControl, _ time: Double, to buffer: inout JSONBuffer) {
        open(#"{"type":"control""#, time, in: &buffer)
        buffer.append(#","frame":"#)
        buffer.append(integer: stamped.frame)
        buffer.append(#","control":"#)
        buffer.append(string: stamped.control.name)
        buffer.append(stamped.control)
        buffer.append(#","from":"#)
        buffer.append(string: stamped.origin)
    }

    private func append(_ notice: DeviceNotice, _ time: Double, to buffer: inout JSONBuffer) {
        open(#"{"type":"device""#, time, in: &buffer)
        buffer.append(#","name":"#)
        buffer.append(string: notice.name)
        buffer.append(#","description":"#)
        buffer.append(string: notice.summary)
        buffer.append(#","state":"#)
        buffer.append(string: notice.state.rawValue)
        buffer.append(#","sample_rate":"#)
        buffer.append(integer: notice.format.sampleRate)
        buffer.append(#","channels":"#)
        buffer.append(integer: notice.format.channelCount)
    }

    private func append(_ gap: Gap, _ time: Double, to buffer: inout JSONBuffer) {
        open(#"{"type":"gap""#, time, in: &buffer)
        buffer.append(#","duration_s":"#)
        buffer.append(seconds: header.format.seconds(at: gap.frames))
        buffer.append(#","frames":"#)
        buffer.append(integer: gap.frames)
        buffer.append(#","reason":"#)
        buffer.append(string: gap.reason.rawValue)
    }

    private func append(_ loss: Loss, _ time: Double, to buffer: inout JSONBuffer) {
        open(#"{"type":"dropped""#, time, in: &buffer)
        buffer.append(#","sink":"#)
        buffer.append(string: loss.sink)
        buffer.append(#","client":"#)
        buffer.append(optional: loss.client)
        buffer.append(#","batches":"#)
        buffer.append(integer: loss.batches)
        buffer.append(#","events":"#)
        buffer.append(integer: loss.events)
    }
}

extension JSONBuffer {
    /// What a control carries, flat: the same names and types as in the visualizer protocol.
    fileprivate mutating func append(_ control: Control) {
        switch control {
        case .tap, .halveTempo, .doubleTempo, .setDownbeat, .resetTempo, .nextPreset, .previousPreset, .randomPreset,
            .toggleCycle:
            break
        case .lockTempo(let tempo):
            append(#","bpm":"#)
            append(tempo ?? .nan, in: .beatsPerMinute)
        case .loadPreset(let name), .presetChanged(let name), .presetRefused(let name):
            append(#","name":"#)
            append(string: name)
        case .lockPreset(let isLocked):
            append(#","locked":"#)
            append(isLocked)
        case .setSpeed(let speed), .speedChanged(let speed):
            append(#","speed":"#)
            append(significant: speed)
        case .ready(let presets):
            append(#","presets":"#)
            appendList(presets) { $0.append(string: $1) }
        case .presetNames(let names):
            append(#","names":"#)
            appendList(names) { $0.append(string: $1) }
        case .key(let stroke):
            append(stroke)
        }
    }

    fileprivate mutating func append(_ stroke: KeyStroke) {
        append(#","key":"#)
        append(string: stroke.key)
        append(#","note":"#)
        append(optional: stroke.note)
        append(#","event":"#)
        append(string: stroke.phase.rawValue)
    }

    fileprivate mutating func append(_ number: SummaryValue.Number) {
        switch number {
        case .count(let count): append(integer: count)
        case .feature(let value, let unit): append(value, in: unit)
        }
    }

    fileprivate mutating func append(optional number: Int?) {
        if let number { append(integer: number) } else { append("null") }
    }

    fileprivate mutating func append(optional text: String?) {
        if let text { append(string: text) } else { append("null") }
    }
}
