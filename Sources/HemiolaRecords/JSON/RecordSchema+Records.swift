internal import HemiolaSignal
internal import HemiolaSystem

extension RecordSchema {
    /// All types of record: `header`, `batch`, the event types in the order of the catalog, `end`, `failure`.
    public static func records(_ catalog: RecordCatalog) -> [Record] {
        first + catalog.events.map { Record($0, of: catalog) } + last
    }

    static let first: [Record] = [
        Record(type: "header", summary: "The first line of a stream.", fields: header.fields),
        Record(
            type: "batch", summary: "The features of one batch. Batches come at a fixed rate.",
            fields: [
                Field("n", .integer, "0, 1, 2 … since the stream's start."),
                Field("frame", .integer, "Its first frame."),
                Field("t", .number, "The time of its first frame, in seconds of audio."),
                Field("partial", .boolean, isOptional: true, "True on a batch that the stream's end or a gap cut short."),
            ]),
    ]

    static let last: [Record] = [
        Record(type: "end", summary: "The last line of a stream.", fields: end.fields),
        Record(
            type: "failure",
            summary:
                "An input that failed: in place of its records in the output of analyze --files-from - or of a folder, and in failures.jsonl.",
            fields: failure.fields),
    ]

    static let time = Field("t", .number, "The time, in seconds of audio since the stream's first frame.")

    // MARK: - Tables

    /// The input of a record, after its type.
    static let path = RecordTable<(file: String?, bytes: [UInt8]?)>(rows: [
        .init(
            "file", .text, isOptional: true, "The path as given; only when one run has several files.", { $0.file.map { .text($0) } },
            { $0.file = try $1.text($2) }),
        .init(
            "file_base64", .text, isOptional: true, "The bytes of the path in Base64; only when they are not UTF-8.",
            { $0.bytes.map { .text($0.base64) } }, { $0.bytes = try [UInt8](base64: $1, $2) }),
    ])

    static let header = RecordTable<StreamHeader>(rows: [
        .init("schema", .integer, "The version of this schema.", { _ in .integer(StreamHeader.schema) }),
        .init("hemiola", .text, "The version of Hemiola.", { _ in .text(HemiolaVersion.current) }),
        .init(
            "source", .object(source.fields), "Where the audio comes from.", { .object(source.members(of: $0.source)) },
            { try source.read($1.object($2), into: &$0.source) }),
        .init(
            "sample_rate", .integer, "Frames per second.", { .integer($0.format.sampleRate) },
            { $0.source.format.sampleRate = try $1.integer($2) }),
        .init(
            "channels", .integer, "Samples per frame.", { .integer($0.format.channelCount) },
            { $0.source.format.channelCount = try $1.integer($2) }),
        .init(
            "channel_names", .texts, isOptional: true,
            "The loudspeaker of each of more than two channels (FL, FR, FC, LFE …), where they are known.",
            { $0.format.channelMap.map { .list($0.names.map { .text($0) }) } },
            { record, json, key in
                let names = try json.texts(key)
                let positions = names.compactMap { name in ChannelPosition.allCases.first { $0.name == name } }
                guard positions.count == names.count else { throw Problem("\"\(key)\" has an unknown name") }
                let format = record.format
                record.source.format = StreamFormat(
                    sampleRate: format.sampleRate, channelCount: format.channelCount, channelMap: ChannelMap(positions))
            }),
        .init(
            "batch_frames", .integer, "Frames per batch.", { .integer($0.batching.batchFrames) },
            { record, json, key in
                let frames = try json.integer(key)
                guard let batching = Batching(batchFrames: frames) else {
                    throw Problem("\"\(key)\" is \(frames), which is not a batch size")
                }
                record.batching = batching
            }),
        .init(
            "seed", .integer, "The seed of the random number generators.", { .integer(Int(clamping: $0.seed)) },
            { $0.seed = UInt64(try $1.count($2)) }),
        .init(
            "fingerprint", .text, isOptional: true,
            "Identifies the version, the settings and the state of the file of a result that analyze --output-dir wrote; --resume compares it.",
            { $0.fingerprint.map { .text($0) } }, { $0.fingerprint = try $1.text($2) }),
        .init(
            "analyzers", .list(of: .object(analyzer.fields)), "The analyzers of the pipeline.", { analyzer.list(of: $0.analyzers) },
            { $0.analyzers = try $1.declarations($2).map { try StreamHeader.Analyzer($0) } }),
    ])

    private static let source = RecordTable<StreamSource>(rows: [
        .init("kind", .text, "The id of the capture: file, pulse …", { .text($0.kind) }, { $0.kind = try $1.text($2) }),
        .init("name", .text, "The path as given, or the device.", { .text($0.name) }, { $0.name = try $1.text($2) }),
        .init(
            "name_base64", .text, isOptional: true, "The bytes of the path in Base64; only when they are not UTF-8.",
            { $0.nameBytes.map { .text($0.base64) } }, { $0.nameBytes = try [UInt8](base64: $1, $2) }),
        .init(
            "duration_s", .number, isNullable: true, "The declared duration; null when unknown or endless.",
            { $0.duration.map { .number($0, in: .seconds) } }, { $0.duration = try $1.optionalNumber($2) }),
        .init(
            "start_s", .number, isOptional: true, "The position of frame 0 in the file, in seconds; only with --start.",
            { $0.start.map { .number($0, in: .seconds) } }, { $0.start = try $1.number($2) }),
        .init(
            "audio_track", .integer, isOptional: true, "The audio track of a film that is analysed, from 1; only where it has several.",
            { $0.audioTrack.map { .integer($0.number) } },
            { $0.audioTrack = try StreamSource.AudioTrack(number: $1.integer($2), count: $1.integer("audio_tracks")) }),
        .init(
            "audio_tracks", .integer, isOptional: true, "How many audio tracks the film has; only where it has several.",
            { $0.audioTrack.map { .integer($0.count) } }),
        .init(
            "tags", .object(tags.fields), isOptional: true, "The tags of a sound file; only where it has any, and only those.",
            { $0.tags.isEmpty ? nil : .object(tags.members(of: $0.tags)) }, { try tags.read($1.object($2), into: &$0.tags) }),
    ])

    /// The tags of a sound file.
    static let tags = RecordTable<SoundTags>(rows: [
        .init("title", .text, isOptional: true, "The title of the piece.", { $0.title.map { .text($0) } }, { $0.title = try $1.tag($2) }),
        .init(
            "artist", .text, isOptional: true, "The artist or composer.", { $0.artist.map { .text($0) } }, { $0.artist = try $1.tag($2) }),
        .init("album", .text, isOptional: true, "The album.", { $0.album.map { .text($0) } }, { $0.album = try $1.tag($2) }),
        .init(
            "track", .text, isOptional: true, "The track as the file states it: 7, 7/12, A1.", { $0.track.map { .text($0) } },
            { $0.track = try $1.tag($2) }),
        .init("genre", .text, isOptional: true, "The genre.", { $0.genre.map { .text($0) } }, { $0.genre = try $1.tag($2) }),
        .init(
            "year", .integer, isOptional: true, "The year of the file's date.", { $0.year.map { .integer($0) } },
            { $0.year = try $1.integer($2) }),
    ])

    static let analyzer = RecordTable<StreamHeader.Analyzer>(rows: [
        .init(
            "id", .text, "Its name in this pipeline: the key of its object in a batch.", { .text($0.name) }, { $0.name = try $1.text($2) }),
        .init("plugin", .text, "The id of the plugin.", { .text($0.id) }, { $0.id = try $1.text($2) }),
        .init(
            "version", .integer, "The version of its outputs; increased when their meaning changes.", { .integer($0.version) },
            { $0.version = try $1.integer($2) }),
        .init(
            "latency_frames", .integer, "The delay of its outputs, in frames.", { .integer(Int($0.outputs.latencyFrames)) },
            { $0.outputs.latencyFrames = Int64(try $1.integer($2)) }),
        .init(
            "causal", .boolean, "Whether no output depends on audio after the end of its batch.", { .boolean($0.outputs.isCausal) },
            { $0.outputs.isCausal = try $1.flag($2) }),
        .init(
            "parameters", .table(of: .parameter), "Every setting with its value.",
            // With all digits, so that the same value can be given again; measurements have six.
            { .object($0.parameters.map { .init($0.key, JSONValue($0.value)) }) },
            { analyzer, json, key in
                for member in try json.members(key) {
                    guard let value = ParameterValue(member.value) else { throw Problem("the parameter \"\(member.key)\" is an object") }
                    analyzer.parameters.append(Parameter(member.key, value))
                }
            }),
        .init(
            "outputs", .list(of: .object(output.fields)), "The features in its object in a batch of this stream.",
            { output.list(of: $0.outputs.features) }, { try $0.outputs.add(features: $1.declarations($2)) }),
        .init(
            "events", .list(of: .object(event.fields)), "Its event records in this stream.", { event.list(of: $0.outputs.events) },
            { try $0.outputs.add(events: $1.declarations($2)) }),
    ])

    static let output = RecordTable<Feature>(rows: [
        .init("name", .text, "Its key.", { .text($0.name) }, { $0.name = try $1.text($2) }),
        .init("unit", .text, "Its unit; empty for none.", { .text($0.unit.rawValue) }, { $0.unit = Unit(rawValue: try $1.text($2)) }),
        .init("count", .integer, "Values per batch.", { .integer($0.count) }, { $0.count = try $1.integer($2) }),
        .init(
            "list", .boolean, "Whether it is written as a list, which may have one value.", { .boolean($0.isArray) },
            { $0.isArray = try $1.flag($2) }),
        .init(
            "edges_hz", .list(of: .number), isOptional: true, "The edges of its bands.",
            { $0.edges.isEmpty ? nil : .list($0.edges.map { .number($0, in: .hertz) }) }, { $0.edges = try $1.numbers($2) }),
        .init(
            "minimum", .number, isOptional: true, "The smallest value that can occur.",
            { feature in feature.minimum.map { .number($0, in: feature.unit) } }, { $0.minimum = try $1.number($2) }),
        .init(
            "maximum", .number, isOptional: true, "The largest value that can occur.",
            { feature in feature.maximum.map { .number($0, in: feature.unit) } }, { $0.maximum = try $1.number($2) }),
        .init(
            "labels", .texts, isOptional: true,
            "For a category: the texts of the numbers from 0 on. The batch has the text under its key, and the number under its key and _number.",
            { $0.isCategory ? .list($0.labels.map { .text($0) }) : nil }, { $0.labels = try $1.texts($2) }),
        .init(
            "center_offset_s", .number, isOptional: true,
            "The time from the batch's first frame to the centre of the analysis window; missing: it describes the batch.",
            { $0.centerOffset.map { .number($0, in: .seconds) } }, { $0.centerOffset = try $1.number($2) }),
        .init("description", .text, "One sentence.", { .text($0.summary) }, { $0.summary = try $1.text($2) }),
    ])

    static let event = RecordTable<EventOutput>(rows: [
        .init(
            "name", .text, "The record type, such as onset or beat; else the output of an event record.", { .text($0.name) },
            { $0.name = try $1.text($2) }),
        .init(
            "unit", .text, "The unit of its numbers; empty for none.", { .text($0.unit.rawValue) },
            { $0.unit = Unit(rawValue: try $1.text($2)) }),
        .init("description", .text, "One sentence.", { .text($0.summary) }, { $0.summary = try $1.text($2) }),
    ])

    static let end = RecordTable<(stream: StreamSummary, time: Double, lines: Int?)>(rows: [
        .init(time.name, time.kind, time.summary, { .number($0.time, in: .seconds) }),
        .init(
            "frames", .integer, "Frames of the stream, including lost ones.", { .integer(Int($0.stream.frames)) },
            { $0.stream.frames = try $1.count($2) }),
        .init(
            "batches", .integer, "Batches of the stream.", { .integer(Int($0.stream.batches)) }, { $0.stream.batches = try $1.count($2) }),
        .init(
            "non_finite", .integer, "Samples that were NaN or infinite and became 0.", { .integer(Int($0.stream.nonFinite)) },
            { $0.stream.nonFinite = try $1.count($2) }),
        .init(
            "dropped", .table(of: .integer),
            "Sum of the batches and events that each sink and its clients lost; only sinks that lost any.",
            { .object($0.stream.dropped.map { .init($0.sink, .integer(Int($0.batches))) }) },
            { record, json, key in
                for member in try json.members(key) {
                    guard let batches = member.value.integer else { throw Problem("\"\(key).\(member.key)\" is not a whole number") }
                    record.stream.dropped.append((member.key, Int64(batches)))
                }
            }),
        .init(
            "summaries", .table(of: .table(of: .parameter)), "The summary of each analyzer that has one.", { $0.stream.sectionObject },
            { $0.stream.sections = try $1.members($2).map { try StreamSummary.Section($0) } }),
        .init(
            "lines", .integer, isOptional: true,
            "The lines of the file up to this one, which is counted; only in results of analyze --output-dir.",
            { $0.lines.map { .integer($0) } }),
        .init(
            "reason", reason, "Why it ends.", { .text($0.stream.reason.rawValue) },
            { record, json, key in
                guard let reason = StreamSummary.Reason(rawValue: try json.text(key)) else { throw Problem("unknown \"\(key)\"") }
                record.stream.reason = reason
            }),
        .init(
            "error", .text, isOptional: true, "Why the input was incomplete or damaged; only then.", { $0.stream.error.map { .text($0) } },
            { $0.stream.error = try $1.text($2) }),
    ])

    static let reason = Field.Kind.choice(StreamSummary.Reason.allCases.map(\.rawValue))

    static let failure = RecordTable<(input: InputEnd, isPartial: Bool?)>(rows: [
        .init("error", .text, "Why, in one line.", { .text($0.input.error ?? "") }, { $0.input.error = try $1.text($2) }),
        .init(
            "partial", .boolean, isOptional: true, "Whether there is a result of a part of the input; only in failures.jsonl.",
            { $0.isPartial.map { .boolean($0) } }),
    ])
}
