public import HemiolaRecords
internal import HemiolaSystem

/// Which value an output sends where: the entries of a map file, or those that an output makes itself.
///
///     - {from: beat.phase, to: /show/phase, scale: [0, 1, 0, 127], type: int}
///     - {from: position, to: /show/beat, when: beat}
///     - {value: 1, to: /show/bars, when: beat, where: {position: 1}, every: 4}
///
/// A map has no names of its own: `from`, `when` and `where` name declared features, records and fields, and `to` is what the output makes
/// of it, for example an OSC address. ``FieldRoutes`` resolves the names for a stream.
///
/// A map of controls is read the other way: `from` and `when` name messages of a device or of another program, and `to` is a control.
/// ``ControlRoutes`` resolves it.
public struct FieldMap: Sendable, Hashable {
    /// The way of the values.
    public enum Direction: Sendable, Hashable {
        /// From features and records to what an output sends.
        case output
        /// From received messages to controls.
        case input
    }

    /// One value and its destination.
    public struct Entry: Sendable, Hashable {
        /// What is sent.
        public enum Source: Sendable, Hashable {
            /// A feature; of several values one, by its number from 0, or all.
            case feature(analyzer: String, feature: String, index: Int?)
            /// A field of the record that triggers the entry.
            case field(String)
            /// All stored fields of the record that triggers the entry, in the order of their declaration.
            case allFields
            /// The same value each time.
            case constant(ParameterValue)
        }

        /// When it is sent.
        public enum Trigger: Sendable, Hashable {
            /// With every batch.
            case batch
            /// With a batch whose value differs from the one sent before.
            case change
            /// With every record of that type.
            case record(String)
        }

        /// A linear conversion. Values outside of the input range give the nearest end of the output range.
        public struct Scale: Sendable, Hashable {
            /// The two ends of the input; different from each other.
            public var input: (low: Double, high: Double) { (values[0], values[1]) }
            /// The values at these ends; the first may be the larger one.
            public var output: (low: Double, high: Double) { (values[2], values[3]) }
            private let values: [Double]

            /// Converts `inputLow`…`inputHigh` to `outputLow`…`outputHigh`. The ends of the input are finite and different.
            public init(from inputLow: Double, _ inputHigh: Double, to outputLow: Double, _ outputHigh: Double) {
                values = [inputLow, inputHigh, outputLow, outputHigh]
            }

            /// The converted value; NaN for NaN.
            public func callAsFunction(_ value: Double) -> Double {
                if value.isNaN { return value }
                let share = min(max((value - values[0]) / (values[1] - values[0]), 0), 1)
                // Exact at both ends.
                return values[2] * (1 - share) + values[3] * share
            }
        }

        /// The type in which a value is sent.
        public enum ValueType: String, Sendable, Hashable, CaseIterable {
            /// A number with a decimal point.
            case float
            /// A whole number: rounded.
            case int
            /// True from 0.5 on.
            case bool
            /// Text.
            case text
        }

        /// What a field of the record has to be for the entry to be sent.
        public struct Condition: Sendable, Hashable {
            /// The field.
            public var field: String
            /// Its value.
            public var value: ParameterValue

            /// The condition that a field has a value.
            public init(_ field: String, is value: ParameterValue) {
                self.field = field
                self.value = value
            }
        }

        /// What is sent.
        public var source: Source
        /// Where: the output's own syntax.
        public var destination: String
        /// When.
        public var trigger: Trigger
        /// Applied to numbers; nil: they are sent as they are.
        public var scale: Scale?
        /// The type in which the value is sent; nil: that of its declaration.
        public var type: ValueType?
        /// All of them have to be met. Only for records.
        public var conditions: [Condition]
        /// 1: it is sent each time; 2: the first and every second time after it, and so on.
        public var interval: Int
        /// The path of the entry and its place in the file, for messages: `map.yaml:3:3: [2]`; empty if it is from no file.
        public var place: String

        /// An entry from its parts.
        public init(
            _ source: Source, to destination: String, when trigger: Trigger = .batch, scale: Scale? = nil, type: ValueType? = nil,
            where conditions: [Condition] = [], every interval: Int = 1, place: String = ""
        ) {
            self.source = source
            self.destination = destination
            self.trigger = trigger
            self.scale = scale
            self.type = type
            self.conditions = conditions
            self.interval = interval
            self.place = place
        }
    }

    /// The file or the name of the built-in map, for messages.
    public var title: String
    /// In the order in which they are sent.
    public var entries: [Entry]

    /// A map of these entries.
    public init(title: String, entries: [Entry]) {
        self.title = title
        self.entries = entries
    }
}
