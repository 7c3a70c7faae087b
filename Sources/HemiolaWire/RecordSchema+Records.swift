internal import HemiolaSignal

extension RecordSchema {
    /// All types of record, in the order of the manual.
    public static let records: [Record] = [
        Record(
            type: "header", summary: "The first line of a stream.",
            fields: [
                Field("schema", .integer, "The version of this schema."),
                Field("hemiola", .text, "The version of Hemiola."),
                Field("source", .object(source), "Where the audio comes from."),
                Field("sample_rate", .integer, "Frames per second."),
                Field("channels", .integer, "Samples per frame."),
                Field(
                    "channel_names", .list(.text, count: nil), optional: true,
                    "The loudspeaker of each of more than two channels (FL, FR, FC, LFE …), where they are known."),
                Field("batch_frames", .integer, "Frames per batch."),
                Field("seed", .integer, "The seed of everything that is random."),
                Field("analyzers", .list(.object(analyzer), count: nil), "The analyzers of the pipeline."),
            ]),
        Record(
            type: "batch", summary: "What the analyzers heard in one batch: the fixed cadence.",
            fields: [
                Field("n", .integer, "0, 1, 2 … since the stream's start."),
                Field("frame", .integer, "Its first frame."),
                Field("t", .number, "The time of its first frame, in seconds of audio."),
                Field("partial", .boolean, optional: true, "True on a batch that the stream's end or a gap cut short."),
            ]),
        Record(
            type: "onset", summary: "A note or stroke begins.",
            fields: [
                time, Field("strength", .number, "How marked it is, 0…; 1 is an ordinary one."),
                emitted,
            ]),
        Record(
            type: "beat", summary: "A beat, as found or announced. A beat once announced stands.",
            fields: [
                time, Field("bpm", .number, "The tempo at this beat."),
                Field("position", .nullable(.integer), "Its place in the bar, 1 = downbeat; null when unknown."),
                Field("confidence", .number, "0…1."),
                emitted,
                Field("due_in_s", .number, "t − emitted_t: positive when it is announced ahead."),
            ]),
        Record(
            type: "event", summary: "A sparse output of an analyzer that has no record type of its own.",
            fields: [
                time,
                Field("duration_s", .nullable(.number), "Its length; null for a moment."),
                Field("analyzer", .text, "The analyzer's id in this pipeline."),
                Field("output", .text, "Which of the analyzer's events."),
                Field("values", .list(.nullable(.number), count: nil), "Its numbers, in the unit of that output."),
                Field("label", .text, "Its text, or nothing."),
            ]),
        Record(
            type: "preset", summary: "The visualizer shall show another preset.",
            fields: [
                time, frame, emitted,
                Field("action", .choice(["load"]), "What it shall do."),
                Field("name", .text, "The preset."),
                Field("cut", .choice(PresetChange.Cut.allCases.map(\.rawValue)), "How one picture follows the other."),
                Field("blend_s", .number, "Seconds from the old picture to the new."),
                Field("reason", .choice(PresetChange.Reason.allCases.map(\.rawValue)), "Why now."),
                Field("next_in_s", .nullable(.number), "Seconds until time alone brings the next one; null: it does not."),
            ]),
        Record(
            type: "speed", summary: "The visualizer's speed changed.",
            fields: [time, Field("speed", .number, "0.1…1.0.")]),
        Record(type: "key", summary: "A key was played in a visualizer.", fields: [time] + keyStroke(optional: false)),
        Record(
            type: "control", summary: "A wish from outside took effect.",
            fields: [
                time, frame, Field("control", .choice(controlNames), "Which wish."),
                Field("bpm", .nullable(.number), optional: true, "lockTempo: the tempo; null unlocks."),
                Field("name", .text, optional: true, "loadPreset, presetHandler, presetRefused: the preset."),
                Field("locked", .boolean, optional: true, "lockPreset: whether it stays."),
                Field("speed", .number, optional: true, "setSpeed, speedHandler: 0.1…1.0."),
                Field("presets", .list(.text, count: nil), optional: true, "ready: the presets that the page has."),
                Field("names", .list(.text, count: nil), optional: true, "presetNames: the presets that the page has."),
            ] + keyStroke(optional: true) + [
                Field("from", .text, "Whose wish: the sink, then a slash and the client where there are several.")
            ]),
        Record(
            type: "device", summary: "Live capture opened, moved or lost its source.",
            fields: [
                time, Field("name", .text, "The device."),
                Field("description", .text, "The device's name for people."),
                Field("state", .choice(DeviceNotice.State.allCases.map(\.rawValue)), "What became of it."),
                Field("sample_rate", .integer, "Frames per second."),
                Field("channels", .integer, "Samples per frame."),
            ]),
        Record(
            type: "gap", summary: "Audio was lost: the clock moves on by its frames, and nothing is heard of them.",
            fields: [
                time, Field("duration_s", .number, "Its length."),
                Field("frames", .integer, "Its length in frames."),
                Field("reason", .choice(Gap.Reason.allCases.map(\.rawValue)), "Why."),
            ]),
        Record(
            type: "dropped", summary: "A sink, or one of its clients, fell behind and lost batches or events (live only).",
            fields: [
                time, Field("sink", .text, "The sink's name."),
                Field("client", .nullable(.text), "The client; null when it was the sink itself."),
                Field("batches", .integer, "Batches lost since the last such record."),
                Field("events", .integer, "Events lost since the last such record: those beyond an hour of music."),
            ]),
        Record(
            type: "end", summary: "The last line of a stream.",
            fields: [
                time, Field("frames", .integer, "Frames of the stream, lost ones included."),
                Field("batches", .integer, "Batches of the stream."),
                Field("non_finite", .integer, "Samples that were NaN or infinite and became 0."),
                Field("dropped", .table(.integer), "Batches that each sink lost; only those that lost any."),
                Field("summaries", .table(.table(.nullable(.figure))), "The last word of each analyzer that has one."),
                Field("reason", .choice(StreamSummary.Reason.allCases.map(\.rawValue)), "Why it ends."),
            ]),
    ]

    private static let time = Field("t", .number, "When, in seconds of audio since the stream's first frame.")
    private static let frame = Field("frame", .integer, "The same as a whole number of frames.")
    private static let emitted = Field("emitted_t", .number, "The end, in stream time, of the batch after which the line stands.")

    private static let source: [Field] = [
        Field("kind", .text, "The id of the capture: file, pulse …"),
        Field("name", .text, "The path as given, or the device."),
        Field("name_base64", .text, optional: true, "The bytes of the path in Base64; only when they are not UTF-8."),
        Field("duration_s", .nullable(.number), "Its length as it states it; null when unknown or endless."),
        Field("start_s", .number, optional: true, "Where in the file frame 0 lies, in seconds; only with --start."),
    ]

    private static let analyzer: [Field] = [
        Field("id", .text, "Its name in this pipeline: the key of its object in a batch."),
        Field("plugin", .text, "The id of the plugin."),
        Field("version", .integer, "Raised when the meaning of its outputs changes."),
        Field("latency_frames", .integer, "How far its outputs lie behind the audio."),
        Field("causal", .boolean, "Whether no output depends on audio after the end of its batch."),
        Field("parameters", .table(.parameter), "Every setting with its value."),
        Field("outputs", .list(.object(output), count: nil), "What its object in a batch of this stream holds."),
        Field("events", .list(.object(event), count: nil), "The other records of this stream that come from it."),
    ]

    private static let output: [Field] = [
        Field("name", .text, "Its key."),
        Field("unit", .text, "Its unit; empty for a number without one."),
        Field("count", .integer, "Values per batch."),
        Field("list", .boolean, "Whether it is written as a list: a list may hold one value."),
        Field("edges_hz", .list(.number, count: nil), optional: true, "The edges of its bands."),
        Field("minimum", .number, optional: true, "The smallest value that can occur."),
        Field("maximum", .number, optional: true, "The largest value that can occur."),
        Field(
            "center_offset_s", .number, optional: true,
            "From the batch's first frame to the centre of what it describes; missing: it describes the batch."),
        Field("description", .text, "One sentence."),
    ]

    private static let event: [Field] = [
        Field("name", .text, "onset or beat: the type of the record; else the output of an event record."),
        Field("unit", .text, "The unit of its numbers; empty for numbers without one."),
        Field("description", .text, "One sentence."),
    ]

    private static func keyStroke(optional isOptional: Bool) -> [Field] {
        [
            Field("key", .text, optional: isOptional, "The key."),
            Field("note", .nullable(.integer), optional: isOptional, "The MIDI note it stands for; null when it stands for none."),
            Field("event", .choice(KeyStroke.Phase.allCases.map(\.rawValue)), optional: isOptional, "Down or up."),
        ]
    }

    private static let controlNames: [String] = [
        Control.tap, .lockTempo(beatsPerMinute: nil), .halveTempo, .doubleTempo, .setDownbeat, .resetTempo, .nextPreset,
        .previousPreset, .randomPreset, .loadPreset(name: ""), .lockPreset(true), .toggleCycle, .setSpeed(1), .ready(presets: []),
        .presetNames([]), .presetChanged(name: ""), .presetRefused(name: ""), .speedChanged(1),
        .key(KeyStroke(key: "", note: nil, phase: .down)),
    ].map(\.name)
}
