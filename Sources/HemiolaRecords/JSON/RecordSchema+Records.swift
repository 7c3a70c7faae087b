extension RecordSchema {
    /// All types of record: `header`, `batch`, the event types in the order of the catalog, `end`, `failure`.
    public static func records(_ catalog: RecordCatalog) -> [Record] {
        first + catalog.events.map { Record($0, of: catalog) } + last
    }

    static let first: [Record] = [
        Record(
            type: "header", summary: "The first line of a stream.",
            fields: [
                Field("schema", .integer, "The version of this schema."),
                Field("hemiola", .text, "The version of Hemiola."),
                Field("source", .object(source), "Where the audio comes from."),
                Field("sample_rate", .integer, "Frames per second."),
                Field("channels", .integer, "Samples per frame."),
                Field(
                    "channel_names", .texts, isOptional: true,
                    "The loudspeaker of each of more than two channels (FL, FR, FC, LFE …), where they are known."),
                Field("batch_frames", .integer, "Frames per batch."),
                Field("seed", .integer, "The seed of the random number generators."),
                Field(
                    "fingerprint", .text, isOptional: true,
                    "Identifies the version, the settings and the state of the file of a result that analyze --output-dir wrote; --resume compares it."
                ),
                Field("analyzers", .list(of: .object(analyzer)), "The analyzers of the pipeline."),
            ]),
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
        Record(
            type: "end", summary: "The last line of a stream.",
            fields: [
                time, Field("frames", .integer, "Frames of the stream, including lost ones."),
                Field("batches", .integer, "Batches of the stream."),
                Field("non_finite", .integer, "Samples that were NaN or infinite and became 0."),
                Field(
                    "dropped", .table(of: .integer),
                    "Sum of the batches and events that each sink and its clients lost; only sinks that lost any."),
                Field("summaries", .table(of: .table(of: .parameter)), "The summary of each analyzer that has one."),
                Field(
                    "lines", .integer, isOptional: true,
                    "The lines of the file up to this one, which is counted; only in results of analyze --output-dir."),
                Field("reason", .choice(StreamSummary.Reason.allCases.map(\.rawValue)), "Why it ends."),
                Field("error", .text, isOptional: true, "Why the input was incomplete or damaged; only then."),
            ]),
        Record(
            type: "failure",
            summary:
                "An input that failed: in place of its records in the output of analyze --files-from - or of a folder, and in failures.jsonl.",
            fields: [
                Field("error", .text, "Why, in one line."),
                Field("partial", .boolean, isOptional: true, "Whether there is a result of a part of the input; only in failures.jsonl."),
            ]),
    ]

    static let time = Field("t", .number, "The time, in seconds of audio since the stream's first frame.")

    private static let source: [Field] = [
        Field("kind", .text, "The id of the capture: file, pulse …"),
        Field("name", .text, "The path as given, or the device."),
        Field("name_base64", .text, isOptional: true, "The bytes of the path in Base64; only when they are not UTF-8."),
        Field("duration_s", .number, isNullable: true, "The declared duration; null when unknown or endless."),
        Field("start_s", .number, isOptional: true, "The position of frame 0 in the file, in seconds; only with --start."),
        Field("audio_track", .integer, isOptional: true, "The audio track of a film that is analysed, from 1; only where it has several."),
        Field("audio_tracks", .integer, isOptional: true, "How many audio tracks the film has; only where it has several."),
        Field(
            "tags", .object(tags(isComplete: false)), isOptional: true, "The tags of a sound file; only where it has any, and only those."),
    ]

    /// The tags of a sound file.
    ///
    /// - Parameter isComplete: Whether a missing tag is null instead of a missing key.
    static func tags(isComplete: Bool) -> [Field] {
        [
            ("title", .text, "The title of the piece."), ("artist", .text, "The artist or composer."), ("album", .text, "The album."),
            ("track", .text, "The track as the file states it: 7, 7/12, A1."), ("genre", .text, "The genre."),
            ("year", .integer, "The year of the file's date."),
        ].map { (name: String, kind: Field.Kind, summary: String) in
            Field(name, kind, isNullable: isComplete, isOptional: !isComplete, summary)
        }
    }

    private static let analyzer: [Field] = [
        Field("id", .text, "Its name in this pipeline: the key of its object in a batch."),
        Field("plugin", .text, "The id of the plugin."),
        Field("version", .integer, "The version of its outputs; increased when their meaning changes."),
        Field("latency_frames", .integer, "The delay of its outputs, in frames."),
        Field("causal", .boolean, "Whether no output depends on audio after the end of its batch."),
        Field("parameters", .table(of: .parameter), "Every setting with its value."),
        Field("outputs", .list(of: .object(output)), "The features in its object in a batch of this stream."),
        Field("events", .list(of: .object(event)), "Its event records in this stream."),
    ]

    private static let output: [Field] = [
        Field("name", .text, "Its key."),
        Field("unit", .text, "Its unit; empty for none."),
        Field("count", .integer, "Values per batch."),
        Field("list", .boolean, "Whether it is written as a list, which may have one value."),
        Field("edges_hz", .list(of: .number), isOptional: true, "The edges of its bands."),
        Field("minimum", .number, isOptional: true, "The smallest value that can occur."),
        Field("maximum", .number, isOptional: true, "The largest value that can occur."),
        Field(
            "labels", .texts, isOptional: true,
            "For a category: the texts of the numbers from 0 on. The batch has the text under its key, and the number under its key and _number."
        ),
        Field(
            "center_offset_s", .number, isOptional: true,
            "The time from the batch's first frame to the centre of the analysis window; missing: it describes the batch."),
        Field("description", .text, "One sentence."),
    ]

    private static let event: [Field] = [
        Field("name", .text, "The record type, such as onset or beat; else the output of an event record."),
        Field("unit", .text, "The unit of its numbers; empty for none."),
        Field("description", .text, "One sentence."),
    ]
}
