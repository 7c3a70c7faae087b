import HemiolaRecords

// A record type and a control as an external plugin declares them, with every type of field and every source of a value.

extension RecordType {
    static let clap = RecordType(
        "clap", "Two hands meet.",
        fields: [
            .frame, .emittedTime, .timeUntilEvent, .constant("verb", "clap", "Always the same."),
            .integer("hands", nullable: true, in: 0...4, "The number of hands; null: unknown."),
            .number("loudness_db", unit: .decibels, nullable: true, in: -120...0, "The level; null: unknown."),
            .boolean("is_rhythmic", "Whether it follows the beat."),
            .text("place", nullable: true, "The place; null: unknown."),
            .choice("manner", of: ["soft", "loud"], "The manner."),
            .texts("people", "The people."),
            .numbers("partials_hz", unit: .hertz, "The frequencies of its partials."),
            .seconds("length_s", ofFramesIn: "length_frames", "The length."),
            .integer("length_frames", "The length in frames."),
        ])
}

extension ControlType {
    static let setClap = ControlType(
        "setClap", "Changes the clap.",
        fields: [
            .integer("hands", nullable: true, in: 0...4, default: ParameterValue.none, "The number of hands."),
            .number("loudness_db", unit: .decibels, in: -120...0, "The level."),
            .boolean("is_rhythmic", default: .boolean(true), "Whether it follows the beat."),
            .text("place", nullable: true, "The place; null: none."),
            .choice("manner", of: ["soft", "loud"], default: .text("soft"), "The manner."),
            .texts("people", default: .list([]), "The people."),
            .numbers("partials_hz", unit: .hertz, "The frequencies of its partials."),
        ])
}

extension Fixture {
    /// One record with a value in every field, and one with null or no value in every field that permits it.
    static let claps = [
        Event(
            at: 0.5, .clap, .integer(2), .number(-6.0206), .boolean(true), .text("ü \"\\\n"), .text("loud"), .texts(["a", "b,c"]),
            .numbers([440, 880.126]), .integer(441)),
        Event(
            at: 0.25, .clap, .none, .none, .boolean(false), .none, .text("soft"), .texts([]), .numbers([.nan]), .integer(0)),
    ]

    static let clapControls = [
        Control(
            .setClap, .integer(4), .number(-12.5), .boolean(false), .text("ü"), .text("loud"), .texts(["a", "b"]), .numbers([440, 880.5])),
        Control(.setClap, .none, .number(0), .boolean(true), .none, .text("soft"), .texts([]), .numbers([])),
    ]
}
