internal import Hemiola
internal import HemiolaSignal
internal import HemiolaWire
internal import NIOCore

/// What a stream's lines are written with, on either side of the hop to the event loop.
struct StreamEncoders: Sendable {
    /// The records that the user selected.
    var records: RecordEncoder
    /// Any line, whatever is selected.
    var any: RecordEncoder
    var format: StreamFormat
    /// The stream's source, by its name.
    var source: String
}

/// Makes a parcel of every batch, on the sink's thread: what somebody wants is encoded, once.
struct BatchWriter: ~Copyable {
    /// The sink's name in its pipeline: clients' losses bear it.
    let sink: String
    let selection: Selection

    private var framer = SampleFramer()
    private var samples = SampleEncoder()
    private var line = JSONBuffer(capacity: 4096)
    private var encoders: StreamEncoders?

    init(sink: String, selection: Selection) {
        self.sink = sink
        self.selection = selection
    }

    /// A stream begins.
    mutating func begin(_ stream: StreamHeader) -> StreamEncoders {
        framer.begin(stream.format)
        let encoders = StreamEncoders(
            records: RecordEncoder(stream, selection: selection, version: HemiolaVersion.current),
            any: RecordEncoder(stream, version: HemiolaVersion.current), format: stream.format,
            source: stream.source.name)
        self.encoders = encoders
        return encoders
    }

    /// A batch of the stream.
    mutating func parcel(_ batch: borrowing Batch, _ wishes: Demand.Wishes) -> Parcel? {
        guard let encoders else { return nil }
        var messages: [SampleMessage] = []
        framer.add(batch.samples, at: batch.frame) { frame, values in
            if !wishes.payloads.isEmpty { messages.append(samples.encode(values, at: frame, as: wishes.payloads)) }
        }
        line.removeAll()
        if wishes.streams.contains(.batch) { encoders.records.encodeLine(batch, into: &line) }
        let batchLine = line.count > 0 ? line.bytes : nil
        let batchEnd = encoders.format.seconds(at: batch.endFrame)
        let parts = read(batch.events, emitted: { _ in batchEnd }, encoders, wishes)
        let parcel = Parcel(
            time: encoders.format.seconds(at: batch.frame), batch: batchLine, events: parts.lines, samples: messages, cues: parts.cues,
            state: parts.change)
        return parcel.isEmpty && !wishes.hasClients ? nil : parcel
    }

    /// Events that come without a batch. The `emitted_t` of each is its own time.
    mutating func parcel(_ events: [Event], _ wishes: Demand.Wishes) -> Parcel? {
        guard let encoders, let time = events.map(\.time).max() else { return nil }
        let parts = read(events.span, emitted: \.time, encoders, wishes)
        let parcel = Parcel(time: time, batch: nil, events: parts.lines, samples: [], cues: parts.cues, state: parts.change)
        return parcel.isEmpty ? nil : parcel
    }

    /// The stream is over: the rest of the samples, the events that came late, the end.
    mutating func end(_ summary: StreamSummary, _ wishes: Demand.Wishes) -> Parcel? {
        guard let encoders else { return nil }
        self.encoders = nil
        var messages: [SampleMessage] = []
        framer.finish { frame, values in
            if !wishes.payloads.isEmpty { messages.append(samples.encode(values, at: frame, as: wishes.payloads)) }
        }
        let end = encoders.format.seconds(at: summary.frames)
        var parts = read(summary.lateEvents.span, emitted: { _ in end }, encoders, wishes)
        if wishes.streams.contains(.end) {
            var summary = summary
            summary.lateEvents = []
            line.removeAll()
            encoders.records.encodeEnd(summary, into: &line)
            if line.count > 0 { parts.lines.append(Parcel.Line(stream: .end, bytes: line.bytes)) }
        }
        return Parcel(time: end, batch: nil, events: parts.lines, samples: messages, cues: parts.cues, state: parts.change)
    }

    // MARK: - Events

    private struct Parts {
        var lines: [Parcel.Line] = []
        var cues: [Parcel.Cue] = []
        var change = VisualizerChange()
    }

    private mutating func read(
        _ events: Span<Event>, emitted: (Event) -> Double, _ encoders: StreamEncoders, _ wishes: Demand.Wishes
    ) -> Parts {
        var parts = Parts()
        var reports = PageReports()
        for index in events.indices {
            let event = events[index]
            let stream = StreamSet(event)
            if wishes.streams.contains(stream) {
                line.removeAll()
                encoders.records.encode(event, batchEnd: emitted(event), into: &line)
                if line.count > 0 { parts.lines.append(Parcel.Line(stream: stream, bytes: line.bytes, except: told(event))) }
            }
            reports.note(event)
            note(event, reports, &parts)
        }
        return parts
    }

    /// A client that lost batches was told in its own stream.
    private func told(_ event: Event) -> String? {
        guard case .dropped(let loss) = event.payload, loss.sink == sink else { return nil }
        return loss.client
    }

    private mutating func note(_ event: Event, _ reports: PageReports, _ parts: inout Parts) {
        switch event.payload {
        case .preset(let change):
            parts.change.preset = change.name
            parts.change.due = change.nextIn.map { event.time + $0 }
            parts.change.losesDue = false
            if [.timer, .bar, .beat, .drop, .hardCut].contains(change.reason) { parts.change.showsCycling = true }
            line.removeAll()
            line.appendLoadPreset(change.name, blend: change.cut == .hard ? 0 : change.blend)
            parts.cues.append(Parcel.Cue(bytes: line.bytes, except: change.reason == .page ? reports.presets[change.name] : nil))
        case .speed(let speed):
            parts.change.speed = speed
            line.removeAll()
            line.appendSetSpeed(speed)
            parts.cues.append(Parcel.Cue(bytes: line.bytes, except: reports.speed))
        case .beat(let beat):
            parts.change.beat = TempoReport(beatsPerMinute: beat.beatsPerMinute, time: event.time)
        case .device(let notice):
            parts.change.device = notice
        case .control(let stamped):
            switch stamped.control {
            case .toggleCycle:
                parts.change.cycleToggles += 1
                parts.change.losesDue = true
            case .lockPreset: parts.change.losesDue = true
            default: break
            }
        case .gap(let gap) where gap.frames > 0:
            parts.cues.append(Parcel.Cue(bytes: PageLine.resumeAudio, needsReady: false))
        default:
            break
        }
    }
}

/// What pages told in a batch, so that they are not told the same in return.
private struct PageReports {
    /// Preset → origin.
    var presets: [String: String] = [:]
    /// Who changed the speed last.
    var speed: String?

    mutating func note(_ event: Event) {
        guard case .control(let stamped) = event.payload else { return }
        switch stamped.control {
        case .presetChanged(let name): presets[name] = stamped.origin
        case .speedChanged: speed = stamped.origin
        case .setSpeed: speed = nil
        default: break
        }
    }
}

/// The lines that drive a page.
enum PageLine {
    static let resumeAudio = ByteBuffer(string: "{\"type\":\"resumeAudio\"}\n")
    static let getPresetNames = ByteBuffer(string: "{\"type\":\"getPresetNames\"}\n")
}

extension JSONBuffer {
    mutating func appendLoadPreset(_ name: String, blend: Double) {
        append(#"{"type":"loadPresetByName","name":"#)
        append(string: name)
        append(#","blend_s":"#)
        append(fixed: blend, decimals: 6)
        append("}\n")
    }

    mutating func appendSetSpeed(_ speed: Double) {
        append(#"{"type":"setSpeed","speed":"#)
        append(significant: speed)
        append("}\n")
    }

    /// How things stand.
    ///
    /// - Parameters:
    ///   - nextIn: Seconds until time alone changes the preset.
    ///   - tempo: Beats per minute.
    ///   - source: The name of the stream's source; nil: no stream has begun.
    mutating func appendStatus(_ state: VisualizerState, nextIn: Double?, tempo: Double?, source: String?, device: DeviceNotice?) {
        append(#"{"type":"status","preset":"#)
        appendText(state.preset)
        append(#","speed":"#)
        append(significant: state.speed ?? .nan)
        append(#","cycling":"#)
        append(state.isCycling.map { $0 ? "true" : "false" } ?? "null")
        append(#","next_in_s":"#)
        append(fixed: nextIn ?? .nan, decimals: 6)
        append(#","bpm":"#)
        append(fixed: tempo ?? .nan, decimals: 2)
        append(#","source":"#)
        appendText(source)
        append(#","device":"#)
        if let device {
            append(#"{"name":"#)
            append(string: device.name)
            append(#","description":"#)
            append(string: device.summary)
            append(#","state":"#)
            append(string: device.state.rawValue)
            append("}")
        } else {
            append("null")
        }
        append("}\n")
    }

    private mutating func appendText(_ text: String?) {
        if let text { append(string: text) } else { append("null") }
    }

    /// The answer to a request.
    ///
    /// - Parameter fault: nil: it has taken effect.
    mutating func appendReply(to id: ClientMessage.ID, fault: String?) {
        append(#"{"type":"reply","id":"#)
        id.append(to: &self)
        append(fault == nil ? #","ok":true,"error":null}"# : #","ok":false,"error":"#)
        if let fault {
            append(string: fault)
            append("}")
        }
        append("\n")
    }

    /// - Parameter count: The client's errors so far.
    mutating func appendError(_ text: String, count: Int) {
        append(#"{"type":"error","error":"#)
        append(string: text)
        append(#","count":"#)
        append(integer: count)
        append("}\n")
    }
}
